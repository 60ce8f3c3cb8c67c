use super::*;

fn clients(endpoint: &str) -> (MailClient, SmsClient) {
    let settings = [
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_REGION", "eu-west-3"),
        ("AWS_ACCESS_KEY_ID", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
    ];
    let aws = Aws::new(&settings.into_iter().collect()).unwrap();
    (MailClient::new(&aws, "a@example.org".to_owned(), None), SmsClient::new(&aws))
}

async fn send((mails, texts): &(MailClient, SmsClient)) -> [Result<(), SendError>; 2] {
    let mail = Mail {
        subject: "Bonjour".to_owned(),
        text: "Bonjour".to_owned(),
        html: "<p>Bonjour</p>".to_owned(),
        calendar: None,
    };
    let (to, number) = ("b@example.org".parse().unwrap(), "+21620123456");
    let number = number.parse().unwrap();
    [
        mails.send(&to, &mail, UserId::NONE).await,
        texts.send(&number, "Bonjour", Type::Transactional, None).await.map(drop),
    ]
}

#[test]
fn attempt_has_as_much_time_as_the_whole_call() {
    let (MailClient { ses: mails, .. }, SmsClient { sns: texts }) = clients("http://127.0.0.1:9");
    let of_mails = mails.config().timeout_config();
    for timeouts in [of_mails, texts.config().timeout_config()] {
        let timeouts = timeouts.unwrap();
        assert_eq!(timeouts.operation_attempt_timeout(), Some(CARRIER_TIMEOUT));
        assert_eq!(timeouts.operation_timeout(), Some(CARRIER_TIMEOUT));
    }
}

#[tokio::test]
async fn connection_never_opened_is_not_sent() {
    for sent in send(&clients("http://127.0.0.1:9")).await {
        assert!(matches!(sent, Err(SendError::NotSent(_))), "{sent:?}");
    }
}

#[tokio::test]
async fn connection_closed_without_response_is_unknown() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clients = clients(&format!("http://{}", listener.local_addr().unwrap()));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 1024];
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
        }
    });
    for sent in send(&clients).await {
        assert!(matches!(sent, Err(SendError::Unknown(_))), "{sent:?}");
    }
}

#[test]
fn error_response_is_unknown_only_if_the_server_may_have_accepted() {
    for (status, code, expected) in [
        (400, "OptedOut", "OptedOut"),
        (400, "InvalidParameter", "Rejected"),
        (400, "MessageRejected", "Rejected"),
        (403, "AuthorizationError", "NotSent"),
        (400, "MonthlySpendLimitReached", "NotSent"),
        (429, "TooManyRequestsException", "NotSent"),
        (503, "ServiceUnavailable", "Unknown"),
        (503, "Throttling", "NotSent"),
        (500, "ThrottlingException", "NotSent"),
        (500, "InternalError", "Unknown"),
        (500, "InvalidParameter", "Unknown"),
        (502, "", "Unknown"),
        (504, "", "Unknown"),
        (302, "", "Unknown"),
    ] {
        let error = format!("{:?}", classify(status, code, String::new()));
        assert!(error.starts_with(expected), "{status} {code}: {error}");
    }
}

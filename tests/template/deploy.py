"""Deploys the template into ministack, an emulated cloud, and runs an end-to-end scenario against it.

Started by infra/bin/check-deploy with the folder of the binaries. Writes only below target/check-deploy and listens
only on 127.0.0.1. The template's roles are in force: the emulator evaluates their policies for every call of a
function. Resources that the emulator does not support are removed from the deployed copy and printed. The gateway's
preflights, throttling and logs, CodeDeploy, TTL, alarms and limits are not tested; linters check the template's form.
"""

import contextlib
import io
import json
import logging
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import types
import uuid
import zipfile

ACCOUNT, REGION, STAGE, CODE = "000000000000", "eu-south-1", "dev", "check-deploy-code"
STACK = f"halqa-{STAGE}"
# Of the first deployment and the second.
COMMITS = [40 * "a", 40 * "b"]
# Used in this emulated environment only.
ADMIN = json.loads(pathlib.Path("infra/first.json").read_text())["administrator"]["email"]
ADMIN_PASSWORD = "huit palmiers au bord du chott"
WORK = pathlib.Path("target/check-deploy")
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "operator", "AWS_SECRET_ACCESS_KEY": "operator",
    "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION,
}
# Before boto3 is imported, so that it cannot use the caller's credentials.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(CREDENTIALS, AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
# ministack warns at import about a package that is not needed here.
logging.getLogger("kms").setLevel(logging.ERROR)

import boto3
import botocore.exceptions
import urllib3
from ministack.services.cloudformation.provisioners import _RESOURCE_HANDLERS as EMULATED
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

HTTP = urllib3.PoolManager(retries=False, timeout=30)


class Failed(Exception):
    """An expectation that was not met."""


def until(what, seconds, look):
    """Repeats `look` until it returns something true, and returns that; fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.5)
    raise Failed(f"{what} did not arrive within {seconds} seconds")


def expect(truth, otherwise="unexpected result"):
    if not truth:
        raise Failed(otherwise)


@contextlib.contextmanager
def step(what):
    """Prints one line with the result of a step; a failed step ends the program."""
    try:
        yield
    except Exception as problem:
        print(f"failed  {what}: {problem if isinstance(problem, Failed) else repr(problem)}")
        print(f"See the log of the emulator and the functions: {WORK / 'ministack.log'}")
        sys.exit(1)
    print(f"ok      {what}")


# ---- the emulated cloud

class Cloud:
    """A ministack process on a free port."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        # The functions inherit its environment, so it inherits nothing from here. AUTH: evaluate IAM policies.
        environment = CREDENTIALS | {
            "PATH": os.environ["PATH"], "HOME": str(WORK.absolute()), "TMPDIR": str(WORK.absolute()),
            "AUTH": "true", "BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(self.port), "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_REGION": REGION, "AWS_ENDPOINT_URL": self.url,
        }
        self.log = WORK / "ministack.log"
        with self.log.open("wb") as log:
            # A new process group, which also contains the processes of the functions.
            self.process = subprocess.Popen([sys.executable, "-m", "ministack"], env=environment, cwd=WORK,
                                            stdout=log, stderr=log, start_new_session=True)

    def ready(self):
        if self.process.poll() is not None:
            raise Failed(f"ministack ended by itself; see {self.log}")
        try:
            return self.look("ready") is not None
        except urllib3.exceptions.HTTPError:
            return False

    def look(self, what):
        """The emulator's own interface, for example to sent mails and text messages; None if there is nothing."""
        answer = HTTP.request("GET", f"{self.url}/_ministack/{what}")
        return answer.json() if answer.status == 200 else None

    def client(self, service):
        return boto3.client(service, endpoint_url=self.url)

    def physical(self, name):
        """The physical identifier of a resource, by its logical name."""
        found = self.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId=name)
        return found["StackResourceDetail"]["PhysicalResourceId"]

    def lines(self, function):
        """The log lines of a function, by its logical name."""
        config = self.client("lambda").get_function_configuration(FunctionName=self.physical(function))
        logs = self.client("logs")
        try:
            events = logs.filter_log_events(logGroupName=config["LoggingConfig"]["LogGroup"])["events"]
        except logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"] for event in events]

    def api(self, api):
        """The URL of the HTTP API with this identifier."""
        return f"{self.url}/_aws/execute-api/{api}/$default"

    def end(self):
        """Ends it and the processes of the functions."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


# ---- the template

def configuration():
    """The capabilities and parameters of `sam deploy --config-env dev`."""
    config = tomllib.loads(pathlib.Path("infra/samconfig.toml").read_text())[STAGE]["deploy"]["parameters"]
    parameters = dict(shlex.split(one)[0].split("=", 1) for one in config["parameter_overrides"])
    return config["capabilities"].split(), parameters | {"Commit": COMMITS[0]}


def processed(cloud, parameters):
    """The template as SAM processes it, for x86_64 and with its code in the emulated S3; and binary to handler."""
    source = yaml_parse(pathlib.Path("infra/template.yaml").read_text())
    source["Globals"]["Function"]["Architectures"] = ["x86_64"]
    binaries = {}
    for resource in source["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            properties = resource["Properties"]
            properties.pop("Architectures", None)
            binary = pathlib.PurePath(properties["CodeUri"]).name
            properties["CodeUri"] = f"s3://{CODE}/{binary}.zip"
            binaries[binary] = properties.get("Handler", source["Globals"]["Function"]["Handler"])
    defaults = {name: one["Default"] for name, one in source["Parameters"].items() if "Default" in one}
    template = transform(source, defaults | parameters, types.SimpleNamespace(load=dict))
    leave_out(template)
    without_tls(template)
    widen(template)
    for name, resource in list(template["Resources"].items()):
        if resource["Type"] == "AWS::ApiGatewayV2::Api" and "Body" in resource["Properties"]:
            template["Resources"].update(routes(name, resource))
    # Callers of the API, such as the canary, must use the emulator's URL.
    text = re.sub(r"https://\$\{(\w+)\}\.execute-api\.\$\{AWS::Region\}\.(\$\{AWS::URLSuffix\}|amazonaws\.com)",
                  cloud.api(r"${\1}"), json.dumps(template))
    return json.loads(text), binaries


def leave_out(template):
    """Removes what the emulator does not support from the template, and prints the types of resources."""
    resources = template["Resources"]
    unsupported = {name: one["Type"] for name, one in resources.items() if one["Type"] not in EMULATED}
    computed = {name for name, one in resources.items() if "Metrics" in one.get("Properties", {})}
    print(f"  not emulated: {', '.join(sorted(set(unsupported.values())))}, UpdatePolicy, alarms on expressions")
    for name in unsupported.keys() | computed:
        del resources[name]
    for resource in resources.values():
        resource.pop("UpdatePolicy", None)
        wanted = resource.get("DependsOn", [])
        wanted = [wanted] if isinstance(wanted, str) else wanted
        resource["DependsOn"] = [one for one in wanted if one in resources]
    outputs = template.get("Outputs", {})
    for name in [name for name, one in outputs.items() if any(f'"{gone}"' in json.dumps(one) for gone in unsupported)]:
        del outputs[name]


def without_tls(template):
    """Removes bucket policy statements that deny plain HTTP, which the emulator needs."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::S3::BucketPolicy":
            document = resource["Properties"]["PolicyDocument"]
            document["Statement"] = [one for one in document["Statement"] if "aws:SecureTransport" not in json.dumps(one)]


# Actions that the emulator evaluates for the resource "*", where AWS uses the resources of the call.
ASKED_ABOUT_ALL = {"ses:SendEmail", "ssm:GetParameters"}


def widen(template):
    """Allows `ASKED_ABOUT_ALL` on all resources, and what is allowed under a condition that the emulator does not evaluate: it
    knows neither keys and attributes of a request nor senders. The API tests evaluate these conditions."""
    for properties in (one["Properties"] for one in template["Resources"].values() if one["Type"].startswith("AWS::IAM::")):
        for policy in properties.get("Policies", [properties]):
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
                if ASKED_ABOUT_ALL.intersection(actions):
                    statement.pop("NotResource", None)
                    statement["Resource"] = "*"
                condition = json.dumps(statement.get("Condition", {}))
                if statement["Effect"] == "Allow" and ("dynamodb:" in condition or "ses:" in condition):
                    del statement["Condition"]


def routes(name, api):
    """The routes and integrations of `api` as resources, because the emulator does not read the `Body` of an API."""
    body, made = api["Properties"].pop("Body"), {}
    api["Properties"].update(Name=body["info"]["title"], ProtocolType="HTTP")
    for number, (path, methods) in enumerate(sorted(body["paths"].items())):
        for method, operation in methods.items():
            integration = operation["x-amazon-apigateway-integration"]
            method = "ANY" if method == "x-amazon-apigateway-any-method" else method.upper()
            made[f"{name}Integration{number}{method}"] = {"Type": "AWS::ApiGatewayV2::Integration", "Properties": {
                "ApiId": {"Ref": name}, "IntegrationType": "AWS_PROXY", "IntegrationUri": integration["uri"],
                "IntegrationMethod": integration["httpMethod"],
                "PayloadFormatVersion": integration["payloadFormatVersion"],
            }}
            made[f"{name}Route{number}{method}"] = {"Type": "AWS::ApiGatewayV2::Route", "Properties": {
                "ApiId": {"Ref": name}, "RouteKey": path if path == "$default" else f"{method} {path}",
                "Target": {"Fn::Sub": f"integrations/${{{name}Integration{number}{method}}}"},
            }}
    return made


def upload(cloud, binaries, folder):
    """Packages each function like a release, without debug information."""
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket=CODE, CreateBucketConfiguration={"LocationConstraint": REGION})
    for binary, handler in binaries.items():
        stripped = WORK / binary
        expect((folder / binary).is_file(), f"{folder / binary} is missing: run cargo build --workspace --bins")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, folder / binary], check=True)
        package, entry = io.BytesIO(), zipfile.ZipInfo(handler)
        entry.external_attr = 0o755 << 16
        with zipfile.ZipFile(package, "w") as archive:
            archive.writestr(entry, stripped.read_bytes())
        s3.put_object(Bucket=CODE, Key=f"{binary}.zip", Body=package.getvalue())
        stripped.unlink()


def deploy(cloud, template, capabilities, parameters, verb="create"):
    """Creates the stack, or with another verb updates it, and fails with the reasons of the resources that failed."""
    cloud.client("s3").put_object(Bucket=CODE, Key="template.json", Body=json.dumps(template).encode())
    formation = cloud.client("cloudformation")
    getattr(formation, f"{verb}_stack")(
        StackName=STACK, TemplateURL=f"{cloud.url}/{CODE}/template.json", Capabilities=capabilities,
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()])
    try:
        waiter = {"Delay": 1, "MaxAttempts": 300}
        formation.get_waiter(f"stack_{verb}_complete").wait(StackName=STACK, WaiterConfig=waiter)
    except botocore.exceptions.WaiterError:
        events = formation.describe_stack_events(StackName=STACK)["StackEvents"]
        raise Failed("; ".join(f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason')}"
                               for event in events if event["ResourceStatus"].endswith("_FAILED")))


# ---- operators

def operates(cloud, folder, *words, code=0):
    """Runs `cargo ops dev ...` from the built binary, which must end with `code`; returns its output."""
    environment = os.environ | {"AWS_ENDPOINT_URL": cloud.url}
    done = subprocess.run([folder / "ops", STAGE, *words], env=environment, capture_output=True, text=True, timeout=60)
    expect(done.returncode == code, f"ops {' '.join(words)}: {done.stdout}")
    return done.stdout


# ---- the scenario

class Person:
    """An API client with a token."""

    def __init__(self, cloud):
        self.cloud, self.base, self.token = cloud, cloud.api(cloud.physical("Api")), None

    def call(self, method, path, status, body=None):
        """The body of a response with this status."""
        headers = {"authorization": self.token} if self.token else {}
        if path.startswith("/sms/"):
            headers["idempotency-key"] = str(uuid.uuid4())
        content = {} if body is None else {"json": body}
        answer = HTTP.request(method, f"{self.base}/api/v1{path}", headers=headers, **content)
        expect(answer.status == status, f"{method} {path}: {answer.status} {answer.data[:400]}, not {status}")
        return answer.json()

    def sign_in(self):
        """Signs in as the first super admin."""
        answer = self.call("POST", "/auth/login", 200, {"email": ADMIN, "password": ADMIN_PASSWORD})
        self.token = answer["user"]["token"]
        return self

    def mailed_code(self, email):
        """The six digits of the newest mail to `email`."""
        def look():
            mails = self.cloud.look("ses/messages")["messages"].get(ACCOUNT, [])
            mine = [mail for mail in mails if email in mail["To"]]
            return mine and re.search(r"\b\d{6}\b", mine[-1]["BodyText"])
        return until(f"a mail with a code to {email}", 30, look).group()


def walk(cloud, template, folder):
    admin = Person(cloud)

    with step("/health answers"):
        expect(admin.call("GET", "/health", 200)["code"] == 200)

    with step("the first super admin sets a password with the code of a mail (ops, stream, dispatcher, SES)"):
        operates(cloud, folder, "bootstrap", "infra/first.json")
        admin.call("POST", "/users/reset-password", 200, {
            "email": ADMIN, "code": admin.mailed_code(ADMIN),
            "newPassword": ADMIN_PASSWORD, "confirmPassword": ADMIN_PASSWORD})
        admin.sign_in()

    with step("the canary signs in and out"):
        operates(cloud, folder, "canary")
        invoked = cloud.client("lambda").invoke(FunctionName=cloud.physical("Canary"), Payload="{}")
        expect("FunctionError" not in invoked, invoked["Payload"].read())

    with step("the hook of deployments invokes every function (CodeDeploy, to which it reports, is not emulated)"):
        event = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "hook-1"}
        invoked = cloud.client("lambda").invoke(FunctionName=cloud.physical("PreTraffic"), Payload=json.dumps(event))
        answer = invoked["Payload"].read().decode()
        expect("FunctionError" not in invoked or "CodeDeploy" in answer, answer)

    with step("the super admin queues a batch of text messages"):
        batch = {"message": "Bonjour", "recipients": [{"to": "+21622000456"}]}
        admin.call("POST", "/sms/bulk", 200, batch)

    with step("the super admin publishes a course"):
        course = admin.call("POST", "/courses", 201, {
            "courseTitle": "Secourisme en milieu scolaire", "courseType": "ONSITE", "sectionOfMatter": "Secourisme",
            "description": "Deux journées pour apprendre à protéger, alerter et secourir.", "region": "Sfax",
            "city": "Sfax", "location": "Maison des jeunes", "contactEmail": ADMIN})["course"]["courseID"]
        admin.call("POST", f"/courses/{course}/publish", 200, {})

    with step("a search finds it by a word (stream, worker)"):
        until("the course", 30, lambda: admin.call("GET", "/courses/search-all?q=secourisme", 200)["courses"])

    with step("the super admin sends a text message (stream, dispatcher, SNS)"):
        message = {"to": "+21698000123", "message": "Demain à 8 h.", "type": "TRANSACTIONAL"}
        admin.call("POST", "/sms/single", 200, message)
        until("the text message", 30, lambda: message["to"] in json.dumps(cloud.look("sns/sms-messages")))

    with step("the batch is sent by the sweep (schedule, worker, SNS)"):
        until("the text message", 150, lambda: "+21622000456" in json.dumps(cloud.look("sns/sms-messages")))

    with step("the failure queues are empty, and no function logs a warning or an error"):
        for name in ["DispatcherFailures", "WorkerFailures"]:
            queue = cloud.client("sqs").get_queue_attributes(
                QueueUrl=cloud.physical(name), AttributeNames=["ApproximateNumberOfMessages"])
            expect(queue["Attributes"]["ApproximateNumberOfMessages"] == "0", name)
        functions = [name for name, one in template["Resources"].items() if one["Type"] == "AWS::Lambda::Function"]
        lines = [line for name in functions for line in cloud.lines(name)]
        # The hook cannot report to CodeDeploy.
        complaints = [line for line in lines if re.search(r'"level":"(WARN|ERROR)"', line) and "CodeDeploy" not in line]
        expect(not complaints, "\n".join(complaints))


# The operations of the AWS CLI that infra/bin/rollback uses, by boto3.
AWS_CLI = """#!{python}
import json, os, re, sys
import boto3
service, operation, *words = sys.argv[1:]
camel = lambda name: "".join(word.capitalize() for word in name.strip("-").split("-"))
given = {{camel(name): value for name, value in zip(words[::2], words[1::2]) if name != "--output"}}
if "RoutingConfig" in given:
    assert given["RoutingConfig"] == "AdditionalVersionWeights={{}}"
    given["RoutingConfig"] = {{"AdditionalVersionWeights": {{}}}}
client, operation = boto3.client(service, endpoint_url="{url}"), operation.replace("-", "_")
if client.can_paginate(operation):
    answer = client.get_paginator(operation).paginate(**given).build_full_result()
else:
    answer = getattr(client, operation)(**given)
print(json.dumps(answer, default=str))
"""


def roll_back(cloud, capabilities, parameters):
    """Deploys another commit, and lets all functions run the first one again."""
    def commit():
        return Person(cloud).call("GET", "/health", 200)["commit"]

    with step("a deployment of another commit: /health and the stack name it"):
        expect(commit() == COMMITS[0])
        parameters = parameters | {"Commit": COMMITS[1], "Release": "fedcba9876543210"}
        with contextlib.redirect_stdout(io.StringIO()):  # printed when the stack was created
            template, _ = processed(cloud, parameters)
        deploy(cloud, template, capabilities, parameters, "update")
        expect(commit() == COMMITS[1])
        outputs = cloud.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
        expect(any((one["OutputKey"], one["OutputValue"]) == ("Commit", COMMITS[1]) for one in outputs), outputs)

    with step("a rollback without a network and without packages: all functions run the first commit again"):
        programs = WORK / "programs"
        programs.mkdir()
        cli = programs / "aws"
        cli.write_text(AWS_CLI.format(python=sys.executable, url=cloud.url))
        cli.chmod(0o755)
        # No proxy answers here.
        nowhere = {name: "http://127.0.0.1:9" for name in ["HTTP_PROXY", "HTTPS_PROXY"]} | {"NO_PROXY": "127.0.0.1"}
        environment = CREDENTIALS | nowhere | {"PATH": f"{programs.absolute()}:/usr/bin:/bin"}
        command = [sys.executable, "infra/bin/rollback", STAGE, COMMITS[0]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        expect(done.returncode == 0, done.stderr)
        expect(commit() == COMMITS[0])
        aliases = [one for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Alias"]
        expect(f"All {len(aliases)} functions run {COMMITS[0]}." in done.stdout, done.stdout)
    return parameters


def recover(cloud, folder, capabilities, parameters):
    """Restores the records table, takes it over by a deployment, works without the old one, and deletes the stack."""
    tables, old, new = cloud.client("dynamodb"), f"halqa-{STAGE}-records", f"halqa-{STAGE}-records-2"

    with step("an operator restores the records table and sets what a restore leaves out"):
        tables.restore_table_to_point_in_time(SourceTableName=old, TargetTableName=new, UseLatestRestorableTime=True)
        tables.get_waiter("table_exists").wait(TableName=new)
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        tables.update_table(TableName=new, StreamSpecification=stream)
        tables.update_time_to_live(
            TableName=new, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        tables.update_continuous_backups(
            TableName=new, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        stream = tables.describe_table(TableName=new)["Table"]["LatestStreamArn"]

    with step("a deployment takes the restored table over, with its stream"):
        # infra/bin/deploy computes another release after every change of a parameter.
        parameters = parameters | {"RecordsTableName": new, "RecordsStreamArn": stream, "Release": "0123456789abcdef"}
        with contextlib.redirect_stdout(io.StringIO()):  # printed when the stack was created
            template, _ = processed(cloud, parameters)
        deploy(cloud, template, capabilities, parameters, "update")
        mappings = cloud.client("lambda").list_event_source_mappings()["EventSourceMappings"]
        expect([one["EventSourceArn"] for one in mappings] == [stream] * 2, mappings)

    with step("the stack leaves the old table, which is deleted"):
        tables.delete_table(TableName=old)

    with step("the super admin signs in and sends a text message (restored table, its stream, dispatcher)"):
        admin = Person(cloud).sign_in()
        message = {"to": "+21698000789", "message": "De retour.", "type": "TRANSACTIONAL"}
        admin.call("POST", "/sms/single", 200, message)
        until("the text message", 30, lambda: message["to"] in json.dumps(cloud.look("sns/sms-messages")))

    with step("a deleted stack comes back with the table and the bucket that it left"):
        formation, bucket = cloud.client("cloudformation"), cloud.physical("FilesBucket")
        formation.delete_stack(StackName=STACK)
        formation.get_waiter("stack_delete_complete").wait(
            StackName=STACK, WaiterConfig={"Delay": 1, "MaxAttempts": 300})
        parameters["FilesBucketName"] = bucket
        with contextlib.redirect_stdout(io.StringIO()):
            template, _ = processed(cloud, parameters)
        deploy(cloud, template, capabilities, parameters)
        expect(Person(cloud).sign_in().call("GET", "/courses/search-all", 200)["courses"])


def check(cloud, folder):
    capabilities, parameters = configuration()
    with step(f"ministack starts on {cloud.url}"):
        until("ministack", 60, cloud.ready)
    with step("SAM processes the template"):
        template, binaries = processed(cloud, parameters)
    with step("an operator creates the keys and the mail identity"):
        expect(f"/halqa/{STAGE}/auth/TOKEN_SIGNING_KEY" in operates(cloud, folder, "keys", "check", code=1))
        operates(cloud, folder, "keys")
        operates(cloud, folder, "keys", "check")
        cloud.client("sesv2").create_email_identity(EmailIdentity=parameters["MailIdentity"])
    with step(f"{len(binaries)} functions are packaged"):
        upload(cloud, binaries, folder)
    with step(f"the stack is created, {len(template['Resources'])} resources"):
        deploy(cloud, template, capabilities, parameters)
    walk(cloud, template, folder)
    parameters = roll_back(cloud, capabilities, parameters)
    recover(cloud, folder, capabilities, parameters)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    # SIGTERM ends the emulator, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    emulator = Cloud()
    try:
        check(emulator, pathlib.Path(sys.argv[1]))
        if "--stay" in sys.argv:
            print(f"The API: {emulator.api(emulator.physical('Api'))}/api/v1 ({ADMIN}, {ADMIN_PASSWORD}). Ctrl-C ends it.")
            with contextlib.suppress(KeyboardInterrupt):
                emulator.process.wait()
    finally:
        emulator.end()

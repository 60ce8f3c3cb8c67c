"""Proves the template by a deployment into an emulated cloud, ministack, and a walk through the service.

Started by infra/bin/check-deploy with the folder of the binaries. Everything that is written lies below
target/check-deploy; nothing listens anywhere but on 127.0.0.1. The roles of the template are in force: the
emulator asks their policies about every call of a function.

A new function, table or alarm of the template needs nothing here. What the emulator cannot make is left out
of the deployed copy and printed, so that a reader knows what was not proved. Nor are, though they are made:

- what the gateway, the schedule and the stream are allowed: the emulator asks nobody;
- preflights through the gateway, its throttling, its access log and its own refusals;
- TTL, alarms, memory and time limits, how long anything takes;
- whether a template is well formed: linters look at that, the emulator is more patient than AWS.
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
# Of nobody but this emulated environment.
ADMIN_PASSWORD = "huit palmiers au bord du chott"
WORK = pathlib.Path("target/check-deploy")
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "operator", "AWS_SECRET_ACCESS_KEY": "operator",
    "AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION,
}
# Before boto3 is imported, so that it finds nobody's own credentials.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(CREDENTIALS, AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
# It says at its import that it lacks a package which nothing here needs.
logging.getLogger("kms").setLevel(logging.ERROR)

import boto3
import botocore.exceptions
import urllib3
from ministack.services.cloudformation.provisioners import _RESOURCE_HANDLERS as EMULATED
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

HTTP = urllib3.PoolManager(retries=False, timeout=30)


class Failed(Exception):
    """What was expected did not come."""


def until(what, seconds, look):
    """What `look` finds, as soon as it finds something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.5)
    raise Failed(f"{what} did not come within {seconds} seconds")


def expect(truth, otherwise="what came is not what was expected"):
    if not truth:
        raise Failed(otherwise)


@contextlib.contextmanager
def step(what):
    """One line of the outcome; the first step that fails is the last."""
    try:
        yield
    except Exception as problem:
        print(f"failed  {what}: {problem if isinstance(problem, Failed) else repr(problem)}")
        print(f"What the emulator and the functions said stands in {WORK / 'ministack.log'}.")
        sys.exit(1)
    print(f"ok      {what}")


# ---- the emulated cloud

class Cloud:
    """ministack, as a process of our own on a free port."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        # Its functions get its environment, so it has nothing of ours. AUTH: the policies are asked.
        environment = CREDENTIALS | {
            "PATH": os.environ["PATH"], "HOME": str(WORK.absolute()), "TMPDIR": str(WORK.absolute()),
            "AUTH": "true", "BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(self.port), "MINISTACK_HOST": "127.0.0.1",
            "MINISTACK_REGION": REGION, "AWS_ENDPOINT_URL": self.url,
        }
        self.log = WORK / "ministack.log"
        with self.log.open("wb") as log:
            # A group of its own, which the functions' processes are in, too.
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
        """What the emulator shows of itself and AWS does not: mails and text messages that left."""
        answer = HTTP.request("GET", f"{self.url}/_ministack/{what}")
        return answer.json() if answer.status == 200 else None

    def client(self, service):
        return boto3.client(service, endpoint_url=self.url)

    def physical(self, name):
        """What the resource of this logical name is called in the cloud."""
        found = self.client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId=name)
        return found["StackResourceDetail"]["PhysicalResourceId"]

    def lines(self, function):
        """What the function of this logical name has said in its log."""
        config = self.client("lambda").get_function_configuration(FunctionName=self.physical(function))
        logs = self.client("logs")
        try:
            events = logs.filter_log_events(logGroupName=config["LoggingConfig"]["LogGroup"])["events"]
        except logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"] for event in events]

    def api(self, api):
        """Where the HTTP API of this identifier is reached."""
        return f"{self.url}/_aws/execute-api/{api}/$default"

    def end(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, Failed):
                os.killpg(self.process.pid, number)
                until("the end of all its processes", 10, self.is_over)

    def is_over(self):
        self.process.poll()
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return True
        return False


# ---- the template

def configuration():
    """What `sam deploy --config-env dev` deploys with: capabilities and parameters."""
    config = tomllib.loads(pathlib.Path("infra/samconfig.toml").read_text())[STAGE]["deploy"]["parameters"]
    parameters = dict(shlex.split(one)[0].split("=", 1) for one in config["parameter_overrides"])
    return config["capabilities"].split(), parameters


def processed(cloud, parameters):
    """The template as CloudFormation gets it from SAM, for x86_64, with its code in the emulated S3."""
    source = yaml_parse(pathlib.Path("infra/template.yaml").read_text())
    [architecture], source["Globals"]["Function"]["Architectures"] = (
        source["Globals"]["Function"]["Architectures"], ["x86_64"])
    print(f"  not proved: {architecture}; binaries of this machine run")
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
    # Whoever calls the API, such as the canary, finds it here.
    text = re.sub(r"https://\$\{(\w+)\}\.execute-api\.\$\{AWS::Region\}\.(\$\{AWS::URLSuffix\}|amazonaws\.com)",
                  cloud.api(r"${\1}"), json.dumps(template))
    return json.loads(text), binaries


def leave_out(template):
    """Takes out of the template what the emulator cannot make, and says so."""
    resources = template["Resources"]
    strange = {name: one["Type"] for name, one in resources.items() if one["Type"] not in EMULATED}
    for kind in sorted(set(strange.values())):
        print(f"  left out, not emulated: {kind} ({', '.join(name for name in strange if strange[name] == kind)})")
    for name in strange:
        del resources[name]
    for resource in resources.values():
        wanted = resource.get("DependsOn", [])
        wanted = [wanted] if isinstance(wanted, str) else wanted
        resource["DependsOn"] = [one for one in wanted if one not in strange]
    gradual = [name for name, resource in resources.items() if resource.pop("UpdatePolicy", None)]
    if gradual:
        print(f"  left out, not emulated: UpdatePolicy ({', '.join(gradual)})")
    outputs = template.get("Outputs", {})
    for name in [name for name, one in outputs.items() if any(f'"{gone}"' in json.dumps(one) for gone in strange)]:
        print(f"  left out with it: the output {name}")
        del outputs[name]


def without_tls(template):
    """Takes out what refuses plain HTTP, which is all that the emulator speaks, and says so."""
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::S3::BucketPolicy":
            document = resource["Properties"]["PolicyDocument"]
            kept = [one for one in document["Statement"] if "aws:SecureTransport" not in json.dumps(one)]
            if len(kept) < len(document["Statement"]):
                print(f"  left out, no TLS here: what {name} refuses without it")
            document["Statement"] = kept


# What the emulator asks a role's policies about "*", where AWS asks about the resources of the call.
ASKED_ABOUT_ALL = {"ses:SendEmail", "ssm:GetParameters"}


def widen(template):
    """Lets roles do what the emulator cannot ask them about precisely, and says so."""
    widened = set()
    for role in (one for one in template["Resources"].values() if one["Type"] == "AWS::IAM::Role"):
        for policy in role["Properties"].get("Policies", []):
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
                if found := ASKED_ABOUT_ALL.intersection(actions):
                    widened |= found
                    statement.pop("NotResource", None)
                    statement["Resource"] = "*"
    for action in sorted(widened):
        print(f"  not proved: on what the roles may do {action}")


def routes(name, api):
    """The routes and integrations of `api` as resources: the emulator does not read the body of an API."""
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
    """Packages each function as it is released, without what only a debugger reads."""
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket=CODE, CreateBucketConfiguration={"LocationConstraint": REGION})
    for binary, handler in binaries.items():
        stripped = WORK / binary
        expect((folder / binary).is_file(), f"there is no {folder / binary}: cargo build --workspace --bins")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, folder / binary], check=True)
        package, entry = io.BytesIO(), zipfile.ZipInfo(handler)
        entry.external_attr = 0o755 << 16
        with zipfile.ZipFile(package, "w") as archive:
            archive.writestr(entry, stripped.read_bytes())
        s3.put_object(Bucket=CODE, Key=f"{binary}.zip", Body=package.getvalue())
        stripped.unlink()


def deploy(cloud, template, capabilities, parameters):
    """Makes the stack."""
    cloud.client("s3").put_object(Bucket=CODE, Key="template.json", Body=json.dumps(template).encode())
    formation = cloud.client("cloudformation")
    formation.create_stack(
        StackName=STACK, TemplateURL=f"{cloud.url}/{CODE}/template.json", Capabilities=capabilities,
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()])
    try:
        waiter = {"Delay": 1, "MaxAttempts": 300}
        formation.get_waiter("stack_create_complete").wait(StackName=STACK, WaiterConfig=waiter)
    except botocore.exceptions.WaiterError:
        events = formation.describe_stack_events(StackName=STACK)["StackEvents"]
        raise Failed("; ".join(f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason')}"
                               for event in events if event["ResourceStatus"].endswith("_FAILED")))


# ---- what operators do

def operate(cloud, folder, *words):
    """What `cargo ops dev ...` says, from the binary that cargo has built."""
    environment = os.environ | {"AWS_ENDPOINT_URL": cloud.url}
    done = subprocess.run([folder / "ops", STAGE, *words], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout


def operates(cloud, folder, *words):
    code, said = operate(cloud, folder, *words)
    expect(code == 0, f"ops {' '.join(words)}: {said}")


# ---- the walk

def told(answer):
    return f"{answer.status} {answer.data[:400].decode(errors='replace')}"


class Person:
    """Somebody with a browser."""

    def __init__(self, cloud):
        self.cloud, self.base, self.token = cloud, cloud.api(cloud.physical("Api")), None

    def ask(self, method, path, body=None, **headers):
        """Whatever is answered; what a path leaves open is `nowhere`."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            headers["authorization"] = self.token
        content = {} if body is None else {"json": body}
        return HTTP.request(method, self.base + re.sub(r"\{.*?\}", "nowhere", path), headers=headers, **content)

    def call(self, method, path, status, body=None, **headers):
        """The body of an answer of this status; its headers stand in `last`."""
        answer = self.ask(method, f"/api/v1{path}", body, **headers)
        expect(answer.status == status, f"{method} {path}: {told(answer)}, not {status}")
        self.last = answer.headers
        return answer.json() if answer.data else None

    def mailed_code(self, email):
        """The six digits of the newest mail to `email`."""
        def look():
            mails = self.cloud.look("ses/messages")["messages"].get(ACCOUNT, [])
            mine = [mail for mail in mails if email in mail["To"]]
            return mine and re.search(r"\b\d{6}\b", mine[-1]["BodyText"])
        return until(f"a mail with a code to {email}", 30, look).group()


def walk(cloud, template, folder):
    email, password = "youssef.trabelsi@example.org", "le phare de Kelibia"
    admin_email = json.loads(pathlib.Path("infra/first.json").read_text())["administrator"]["email"]
    admin, person = Person(cloud), Person(cloud)

    with step("/health answers"):
        expect(person.call("GET", "/health", 200)["code"] == 200)

    with step("an unknown path has the envelope of a 404"):
        expect(person.call("GET", "/nowhere", 404)["message"]["RESPONSE_CODE"])

    with step("a function answers a preflight (handed to it by hand: this gateway answers all OPTIONS itself)"):
        event = json.loads(pathlib.Path("events/auth/login.json").read_text()) | {"body": None}
        event["headers"] |= {"origin": "https://halqa.example.org", "access-control-request-method": "POST"}
        event["requestContext"]["http"]["method"] = "OPTIONS"
        invoked = cloud.client("lambda").invoke(FunctionName=cloud.physical("Auth"), Payload=json.dumps(event))
        answer = json.load(invoked["Payload"])
        expect(answer.get("statusCode") == 204 and answer["headers"]["access-control-allow-methods"], answer)

    with step("the first super admin sets his password by the code of a mail (ops, stream, dispatcher, SES)"):
        operates(cloud, folder, "bootstrap", "infra/first.json")
        admin.call("POST", "/users/reset-password", 200, {
            "email": admin_email, "code": admin.mailed_code(admin_email),
            "newPassword": ADMIN_PASSWORD, "confirmPassword": ADMIN_PASSWORD})
        admin.call("POST", "/auth/login", 200, {"email": admin_email, "password": ADMIN_PASSWORD})
        admin.token = admin.last["authorization"]
        committee = admin.call("GET", "/auth/current-user", 200)["user"]["committeeID"]

    with step("there is no second first one"):
        code, said = operate(cloud, folder, "bootstrap", "infra/first.json")
        expect(code == 1 and "already" in said, said)

    with step("the canary signs in, out and is content"):
        operates(cloud, folder, "canary")
        invoked = cloud.client("lambda").invoke(FunctionName=cloud.physical("Canary"), Payload="{}")
        expect("FunctionError" not in invoked, invoked["Payload"].read())

    with step("the smoke test finds everything, but for the preflight that this gateway answers itself"):
        _, said = operate(cloud, folder, "smoke", f"{cloud.api(cloud.physical('Api'))}/api/v1")
        bad = [line for line in said.splitlines() if line.startswith("  BAD")]
        expect(len(bad) == 1 and "a preflight is allowed" in bad[0], said)

    with step("he queues a batch of text messages"):
        batch = {"message": "Bonjour", "recipients": [{"to": "+21622000456"}]}
        admin.call("POST", "/sms/bulk", 200, batch, idempotency_key=str(uuid.uuid4()))

    with step("somebody registers"):
        person.call("POST", "/users/register", 201, {
            "name": "Youssef", "lastName": "Trabelsi", "email": email, "password": password,
            "confirmPassword": password, "committeeID": committee})

    with step("he verifies his address by the code of a mail"):
        person.call("PUT", "/users/email-verification", 200, {"email": email, "code": person.mailed_code(email)})

    with step("he signs in by his password"):
        person.call("POST", "/auth/login", 200, {"email": email, "password": password})
        person.token = person.last["authorization"]
        expect(person.call("GET", "/auth/current-user", 200)["user"]["isVerified"])

    with step("the super admin publishes a course"):
        course = admin.call("POST", "/courses", 201, {
            "courseTitle": "Secourisme en milieu scolaire", "courseType": "ONSITE", "sectionOfMatter": "Secourisme",
            "description": "Deux journées pour apprendre à protéger, alerter et secourir.", "region": "Sfax",
            "city": "Sfax", "location": "Maison des jeunes", "contactEmail": admin_email})["course"]["courseID"]
        admin.call("POST", f"/courses/{course}/publish", 200, {})

    with step("the other one finds it by a word (stream, dispatcher)"):
        until("the course", 30, lambda: person.call("GET", "/courses/search-all?q=secourisme", 200)["courses"])
        expect(person.call("GET", "/courses/search-all", 200)["courses"])

    with step("he uploads a file by the form that S3 takes, and fetches it by its link"):
        announced = person.call("POST", "/files", 201, {"name": "a.txt", "contentType": "text/plain", "size": 5})
        form, file = announced["upload"], announced["file"]["fileID"]
        fields = form["fields"] | {"file": ("a.txt", b"hallo", "text/plain")}
        answer = HTTP.request("POST", form["url"], fields=fields)
        expect(answer.status == 204, f"the form: {told(answer)}")
        person.call("POST", f"/files/{file}/complete", 200, {})
        expect(HTTP.request("GET", person.call("GET", f"/files/{file}", 200)["file"]["url"]).data == b"hallo")

    with step("the super admin sends a text message (stream, dispatcher, SNS)"):
        message = {"to": "+21698000123", "message": "Demain à 8 h.", "type": "TRANSACTIONAL"}
        admin.call("POST", "/sms/single", 200, message, idempotency_key=str(uuid.uuid4()))
        until("the text message", 30, lambda: message["to"] in json.dumps(cloud.look("sns/sms-messages")))

    with step("every route leads to its function, which says so in its log"):
        for key, function in routes_of(template):
            method, path = key.split(" ") if " " in key else ("GET", "/nowhere")
            answer = admin.ask("GET" if method == "ANY" else method, path)
            expect(answer.status < 500 and answer.json()["code"] == answer.status, f"{key}: {told(answer)}")
            until(f"the line of {key} in the log of {function}", 10,
                  lambda: answer.headers["x-request-id"] in "".join(cloud.lines(function)))

    with step("every path of the interface is known where it leads"):
        for path, operations in yaml_parse(pathlib.Path("infra/api/openapi.yaml").read_text())["paths"].items():
            prefix = operations.get("servers", [{"url": "/api/v1"}])[0]["url"].rstrip("/")
            answer = person.ask("PATCH", prefix + path)
            # A path that the function behind does not know is 404.
            expect(answer.status == 405, f"PATCH {prefix + path}: {told(answer)}")

    with step("the batch leaves with the sweep (schedule, dispatcher, SNS)"):
        until("the text message", 150, lambda: "+21622000456" in json.dumps(cloud.look("sns/sms-messages")))

    with step("nothing was given up, and no function complains in its log"):
        queue = cloud.client("sqs").get_queue_attributes(
            QueueUrl=cloud.physical("DispatcherFailures"), AttributeNames=["ApproximateNumberOfMessages"])
        expect(queue["Attributes"]["ApproximateNumberOfMessages"] == "0")
        functions = [name for name, one in template["Resources"].items() if one["Type"] == "AWS::Lambda::Function"]
        lines = [line for name in functions for line in cloud.lines(name)]
        # The smoke test has tried a wrong password.
        meant = "somebody did not sign in"
        complaints = [line for line in lines if re.search(r'"level":"(WARN|ERROR)"', line) and meant not in line]
        expect(not complaints, "\n".join(complaints))


def routes_of(template):
    """The key of each route, and the logical name of the function behind it."""
    resources = template["Resources"]
    for route in (one for one in resources.values() if one["Type"] == "AWS::ApiGatewayV2::Route"):
        [integration] = re.findall(r"\w+(?=\}$)", route["Properties"]["Target"]["Fn::Sub"])
        uri = json.dumps(resources[integration]["Properties"]["IntegrationUri"])
        [target] = re.findall(r"functions/\$\{(\w+)", uri)
        function = resources[target]
        if function["Type"] == "AWS::Lambda::Alias":
            target = function["Properties"]["FunctionName"]["Ref"]
        yield route["Properties"]["RouteKey"], target


def check(cloud, folder):
    capabilities, parameters = configuration()
    with step(f"ministack starts on {cloud.url}"):
        until("ministack", 60, cloud.ready)
    with step("SAM takes the template"):
        template, binaries = processed(cloud, parameters)
    with step("what an operator makes before: keys, and the identity that mails are from"):
        code, said = operate(cloud, folder, "keys", "check")
        expect(code == 1 and f"/halqa/{STAGE}/auth/TOKEN_SIGNING_KEY" in said, f"missing keys are not named: {said}")
        operates(cloud, folder, "keys")
        operates(cloud, folder, "keys", "check")
        cloud.client("sesv2").create_email_identity(EmailIdentity=parameters["MailIdentity"])
    with step(f"{len(binaries)} functions are packaged"):
        upload(cloud, binaries, folder)
    with step(f"the stack is made, {len(template['Resources'])} resources"):
        deploy(cloud, template, capabilities, parameters)
    walk(cloud, template, folder)


def stay(cloud):
    """Leaves the environment up until somebody ends it."""
    email = json.loads(pathlib.Path("infra/first.json").read_text())["administrator"]["email"]
    print(f"""
  The environment dev is up.

    API        {cloud.api(cloud.physical("Api"))}/api/v1
    Sign-in    {email}  /  {ADMIN_PASSWORD}
    Operators  AWS_ENDPOINT_URL={cloud.url} AWS_REGION={REGION} AWS_ACCESS_KEY_ID=operator \\
               AWS_SECRET_ACCESS_KEY=operator cargo ops dev ...

  Ctrl-C ends it.""")
    with contextlib.suppress(KeyboardInterrupt):
        cloud.process.wait()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    # Ended from outside, it ends the cloud, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    emulator = Cloud()
    try:
        check(emulator, pathlib.Path(sys.argv[1]))
        if "--stay" in sys.argv:
            stay(emulator)
    finally:
        emulator.end()

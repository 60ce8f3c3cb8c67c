#!/usr/bin/env python3
"""Tests infra/bin/deploy, fetch, restart and rollback with stand-ins for cargo, sam, aws, curl and gh.

Needs Python 3.11, bash and git, no network and no AWS account. Run by infra/bin/check-template.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).parents[2]
# Notes the arguments and the regions of the environment. `aws configure get region` answers as the profile does.
STAND_IN = """#!/bin/sh
if [ "$(basename "$0") $1 $2" = "aws configure get" ]; then
    test -n "$PROFILE_REGION" && echo "$PROFILE_REGION"
    exit
fi
echo "$(basename "$0") $* [$AWS_REGION $AWS_DEFAULT_REGION]" >> "$CALLS"
test "$(basename "$0")" != curl || echo "$HEALTH"
"""
# Lambda and CloudFormation with the state of the file STATE; notes the changes in it.
LAMBDA = """#!/usr/bin/env python3
import json, os, sys
path = os.environ["STATE"]
state = json.load(open(path))
words = sys.argv[1:]
value = lambda name: words[words.index(name) + 1]
match words[:2]:
    case ["cloudformation", "describe-stacks"] if "Stacks[0].Parameters" in words:
        print(json.dumps(state["parameters"], indent=4))
    case ["cloudformation", "describe-stacks"]:
        print(json.dumps({"Stacks": [{"StackStatus": state["status"]}]}))
    case ["cloudformation", "list-stack-resources"]:
        arn = "arn:aws:lambda:eu-west-3:1:function:%s:live"
        print(json.dumps({"StackResourceSummaries": [
            {"ResourceType": "AWS::S3::Bucket", "PhysicalResourceId": "files"},
            *({"ResourceType": "AWS::Lambda::Alias", "PhysicalResourceId": arn % name} for name in state["versions"])]}))
    case ["lambda", "list-versions-by-function"]:
        print(json.dumps({"Versions": state["versions"][value("--function-name")]}))
    case ["lambda", "update-alias"]:
        state["aliases"][value("--function-name")] = value("--function-version")
        assert value("--routing-config") == "AdditionalVersionWeights={}"
    case ["cloudformation", "update-stack"]:
        state["update"] = json.load(open(value("--cli-input-json").removeprefix("file://")))
    case ["ssm", "get-parameter"]:
        print("new:secret,old:secret")
    case ["cloudformation", "wait"]:
        pass
    case other:
        sys.exit(f"unexpected: {other}")
json.dump(state, open(path, "w"))
"""
PARIS, IRELAND = "eu-west-3", "eu-west-1"


def git(folder, *words):
    identity = ["-c", "user.name=Test", "-c", "user.email=test@halqa.test", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", folder, *identity, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def offline():
    """The command that runs another one without a network, if this machine permits it."""
    command = ["unshare", "--map-root-user", "--net"]
    try:
        return command if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0 else []
    except FileNotFoundError:
        return []


class Deploy(unittest.TestCase):
    """Runs the script in a copy of the folder, which is a commit with packages."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(ROOT / "infra/bin", self.folder / "infra/bin")
        for path in (ROOT / "infra").glob("*.*"):
            shutil.copy(path, self.folder / "infra")
        programs, package = self.folder / "programs", self.folder / "target/lambda/auth"
        programs.mkdir()
        for name in ["cargo", "sam", "aws", "curl"]:
            (programs / name).write_text(STAND_IN)
            (programs / name).chmod(0o755)
        package.mkdir(parents=True)
        (package / "bootstrap").touch()
        self.calls = self.folder / "calls"
        self.config = self.folder / "infra/samconfig.toml"
        self.config.write_text(self.config.read_text().replace("example.org", "halqa.test"))
        (self.folder / ".gitignore").write_text("/target\n/programs\n/calls\n")
        self.packages = package.parent / "COMMIT"
        self.commit()

    def commit(self):
        """Commits all files; the packages are of that commit."""
        git(self.folder, "init", "--quiet")
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", "a release")
        head = git(self.folder, "rev-parse", "HEAD")
        self.packages.write_text(f"{head}\n")
        return head

    def deploy(self, *arguments, stage="dev", **regions):
        path = f"{self.folder}/programs:{os.environ['PATH']}"
        command = [self.folder / "infra/bin/deploy", stage, *arguments]
        environment = {"PATH": path, "CALLS": str(self.calls), **regions}
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
        return done, self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_region_is_passed_to_every_program(self):
        for regions in [
            {"AWS_REGION": PARIS},
            {"AWS_REGION": PARIS, "AWS_DEFAULT_REGION": PARIS},
            {"AWS_REGION": PARIS, "PROFILE_REGION": PARIS},
            # boto3 reads the profile only without AWS_DEFAULT_REGION
            {"AWS_REGION": PARIS, "AWS_DEFAULT_REGION": PARIS, "PROFILE_REGION": IRELAND},
        ]:
            with self.subTest(regions):
                self.calls.unlink(missing_ok=True)
                done, (ops, sam) = self.deploy("--no-confirm-changeset", **regions)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(ops, f"cargo ops dev keys check [{PARIS} {PARIS}]")
                self.assertRegex(sam, f"^sam deploy --region {PARIS} --config-env dev .*--no-confirm-changeset")
                self.assertTrue(sam.endswith(f"[{PARIS} {PARIS}]"), sam)

    def test_regions_that_differ_or_are_missing_are_refused_before_any_call(self):
        for regions, sentence in [
            ({}, "AWS_REGION is not set"),
            ({"AWS_DEFAULT_REGION": PARIS}, f"AWS_REGION is not set, .* export AWS_REGION={PARIS}"),
            ({"PROFILE_REGION": IRELAND}, f"AWS_REGION is not set, .* export AWS_REGION={IRELAND}"),
            ({"AWS_REGION": PARIS, "AWS_DEFAULT_REGION": IRELAND},
             rf"cargo ops would use {PARIS} .* SAM {IRELAND} \(AWS_DEFAULT_REGION\)"),
            ({"AWS_REGION": PARIS, "PROFILE_REGION": IRELAND}, rf"SAM {IRELAND} \(the profile default\)"),
            ({"AWS_REGION": PARIS, "PROFILE_REGION": IRELAND, "AWS_PROFILE": "work"}, r"\(the profile work\)"),
        ]:
            with self.subTest(regions):
                done, calls = self.deploy(**regions)
                self.assertEqual((done.returncode, calls), (2, []))
                self.assertRegex(done.stderr, sentence)

    def test_role_that_may_not_read_keys_compares_names_only(self):
        _, (ops, _) = self.deploy(AWS_REGION=PARIS, KEYS="names")
        self.assertEqual(ops, f"cargo ops dev keys check names [{PARIS} {PARIS}]")

    def test_edge_secret_is_read_in_the_same_region(self):
        self.config.write_text(self.config.read_text().replace("'MonthlyBudget=\"5\"',", "'EnableEdge=\"true\"',"))
        _, calls = self.deploy(AWS_REGION=PARIS)
        [secret] = [call for call in calls if call.startswith("aws ")]
        self.assertIn(f"ssm get-parameter --region {PARIS} ", secret)


    def assert_refused(self, sentence, **options):
        done, calls = self.deploy(AWS_REGION=PARIS, **options)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, sentence)
        self.assertFalse([call for call in calls if not call.startswith("curl ")])

    def test_example_addresses_are_refused(self):
        self.config.write_text(self.config.read_text().replace("@halqa.test", "@example.org", 1))
        self.assert_refused('OperatorEmail="operator@example.org"')

    def test_packages_of_another_commit_are_refused(self):
        released = self.packages.read_text()
        template = self.folder / "infra/template.yaml"
        template.write_text(template.read_text() + "# changed\n")
        self.assert_refused("is not that commit")
        self.commit()
        self.packages.write_text(released)
        self.assert_refused("is not that commit")

    def test_packages_without_a_commit_are_refused(self):
        self.packages.write_text(self.packages.read_text().strip() + "-changed\n")
        self.assert_refused("no packages of a commit, but of [0-9a-f]{40}-changed")
        self.packages.unlink()
        self.assert_refused("no packages of a commit: run infra/bin/fetch")

    def test_samconfig_may_differ_from_the_commit(self):
        self.config.write_text(self.config.read_text() + "# changed\n")
        done, _ = self.deploy(AWS_REGION=PARIS)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_prod_takes_only_a_tag_that_staging_runs(self):
        head = self.packages.read_text().strip()
        prod = {"stage": "prod", "STAGING_URL": "https://staging.halqa.test"}
        self.assert_refused("only commits with a tag", **prod)
        git(self.folder, "tag", "v1.2.0")
        self.assert_refused("STAGING_URL is not set", stage="prod")
        self.assert_refused("staging does not run v1.2.0", HEALTH='{"version":"0.1.0","commit":"0123"}', **prod)
        self.calls.unlink()
        done, calls = self.deploy(AWS_REGION=PARIS, HEALTH=json.dumps({"commit": head}, separators=(",", ":")), **prod)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("https://staging.halqa.test/api/v1/health", calls[0])
        self.assertTrue(calls[-1].startswith("sam deploy "))


class Running(unittest.TestCase):
    """Rolls back and restarts what runs: nothing but the AWS CLI is there, and no network."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(ROOT / "infra/bin", self.folder / "infra/bin")
        git(self.folder, "init", "--quiet")
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message", "the first")
        git(self.folder, "tag", "v1.0.0")
        git(self.folder, "commit", "--quiet", "--allow-empty", "--message", "the second")
        first, second = git(self.folder, "rev-parse", "v1.0.0", "HEAD").split()
        version = lambda number, commit, keys: {"Version": number, "Description": f"commit {commit}, keys {keys}"}
        versions = [
            version("$LATEST", second, 1), version("9", first, 1), version("10", first, 2), version("11", second, 2), {"Version": "1"},
        ]
        parameter = lambda name, value: {"ParameterKey": name, "ParameterValue": value}
        self.state = {
            "status": "UPDATE_COMPLETE", "aliases": {},
            "versions": {"halqa-prod-Auth-1": versions, "halqa-prod-canary": versions},
            "parameters": [parameter("Stage", "prod"), parameter("KeysEpoch", "4"), parameter("Guarded", "true"),
                           parameter("EnableEdge", "false"), parameter("EdgeSecret", "****")],
        }
        programs = self.folder / "programs"
        programs.mkdir()
        for name, text in {"aws": LAMBDA, "cargo": "#!/bin/sh\nexit 9\n", "sam": "#!/bin/sh\nexit 9\n"}.items():
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)

    def run_script(self, name, *words):
        file = self.folder / "state"
        file.write_text(json.dumps(self.state))
        environment = {"PATH": f"{self.folder}/programs:{os.environ['PATH']}", "STATE": str(file), "AWS_REGION": PARIS}
        command = [*offline(), self.folder / "infra/bin" / name, *words]
        done = subprocess.run(command, env=environment, cwd=self.folder, text=True, capture_output=True, check=False)
        return done, json.loads(file.read_text())

    def test_rollback_sets_all_aliases_to_the_newest_version_of_the_tag(self):
        done, state = self.run_script("rollback", "prod", "v1.0.0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(state["aliases"], {"halqa-prod-Auth-1": "10", "halqa-prod-canary": "10"})

    def test_rollback_changes_nothing_unless_all_functions_have_the_commit(self):
        self.state["versions"]["halqa-prod-canary"] = self.state["versions"]["halqa-prod-canary"][-2:]
        done, state = self.run_script("rollback", "prod", "v1.0.0")
        self.assertEqual((done.returncode, state["aliases"]), (1, {}))
        self.assertIn("no version of halqa-prod-canary", done.stderr)

    def test_rollback_waits_for_no_deployment(self):
        self.state["status"] = "UPDATE_IN_PROGRESS"
        done, state = self.run_script("rollback", "prod", "v1.0.0")
        self.assertEqual((done.returncode, state["aliases"]), (1, {}))

    def test_restart_keeps_template_packages_and_other_parameters(self):
        done, state = self.run_script("restart", "prod", "Guarded=false")
        self.assertEqual(done.returncode, 0, done.stderr)
        update = state["update"]
        self.assertTrue(update["UsePreviousTemplate"])
        self.assertEqual(update["Parameters"], [
            {"ParameterKey": "Stage", "UsePreviousValue": True}, {"ParameterKey": "KeysEpoch", "ParameterValue": "5"},
            {"ParameterKey": "Guarded", "ParameterValue": "false"}, {"ParameterKey": "EnableEdge", "UsePreviousValue": True},
            {"ParameterKey": "EdgeSecret", "UsePreviousValue": True}])

    def test_restart_passes_a_new_edge_secret_to_cloudfront(self):
        self.state["parameters"][3]["ParameterValue"] = "true"
        _, state = self.run_script("restart", "prod")
        self.assertEqual(state["update"]["Parameters"][-1], {"ParameterKey": "EdgeSecret", "ParameterValue": "new:secret"})

    def test_restart_refuses_a_parameter_that_the_stack_does_not_have(self):
        done, state = self.run_script("restart", "prod", "Guarde=false")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("update", state)


# `gh`: downloads the folder RELEASE, and verifies all files but FORGED.
GITHUB = """#!/bin/sh
case $1 in
    release) mkdir -p target && cp -r "$RELEASE" target/lambda ;;
    attestation) [ "$3" != "$FORGED" ] ;;
    *) exit 9 ;;
esac
"""


class Fetch(unittest.TestCase):
    """Runs infra/bin/fetch in a copy of the folder, with a release of one package."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(ROOT / "infra/bin", self.folder / "infra/bin")
        (self.folder / "programs").mkdir()
        (self.folder / "programs/gh").write_text(GITHUB)
        (self.folder / "programs/gh").chmod(0o755)
        self.release = self.folder / "release"
        self.release.mkdir()
        files = {"auth/bootstrap": b"a program", "COMMIT": b"0123456789abcdef\n"}
        with zipfile.ZipFile(self.release / "auth.zip", "w") as package:
            package.writestr("bootstrap", files["auth/bootstrap"])
        (self.release / "COMMIT").write_bytes(files["COMMIT"])
        sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
        (self.release / "SHA256SUMS").write_text("".join(sums))

    def fetch(self, forged=""):
        environment = {
            "PATH": f"{self.folder}/programs:{os.environ['PATH']}", "GITHUB_REPOSITORY": "a/b",
            "RELEASE": str(self.release), "FORGED": forged,
        }
        command = [self.folder / "infra/bin/fetch", "v1.0.0"]
        done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
        program = self.folder / "target/lambda/auth/bootstrap"
        return done, program.read_bytes() if program.exists() else None

    def test_fetch_unpacks_the_packages_of_the_release(self):
        done, program = self.fetch()
        self.assertEqual((done.returncode, program), (0, b"a program"), done.stderr)

    def test_fetch_unpacks_nothing_that_another_workflow_built(self):
        for forged in ["auth.zip", "COMMIT"]:
            done, program = self.fetch(forged)
            self.assertEqual((done.returncode, program), (1, None), forged)

    def test_fetch_fails_if_a_program_is_not_the_one_that_was_built(self):
        (self.release / "SHA256SUMS").write_text(f"{'0' * 64}  auth/bootstrap\n")
        done, _ = self.fetch()
        self.assertEqual(done.returncode, 1)
        self.assertIn("auth/bootstrap: FAILED", done.stdout)


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 is needed")
    unittest.main()

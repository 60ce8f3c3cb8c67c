#!/usr/bin/env python3
"""Tests infra/bin/deploy with stand-ins for cargo, sam and aws.

Needs Python 3.11 and bash, no network and no AWS account. Run by infra/bin/check-template.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
# Notes the arguments and the regions of the environment. `aws configure get region` answers as the profile does.
STAND_IN = """#!/bin/sh
if [ "$(basename "$0") $1 $2" = "aws configure get" ]; then
    test -n "$PROFILE_REGION" && echo "$PROFILE_REGION"
    exit
fi
echo "$(basename "$0") $* [$AWS_REGION $AWS_DEFAULT_REGION]" >> "$CALLS"
"""
PARIS, IRELAND = "eu-west-3", "eu-west-1"


class Deploy(unittest.TestCase):
    """Runs the script in a copy of the folder."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(ROOT / "infra/bin", self.folder / "infra/bin")
        for path in (ROOT / "infra").glob("*.*"):
            shutil.copy(path, self.folder / "infra")
        programs, package = self.folder / "programs", self.folder / "target/lambda/auth"
        programs.mkdir()
        for name in ["cargo", "sam", "aws"]:
            (programs / name).write_text(STAND_IN)
            (programs / name).chmod(0o755)
        package.mkdir(parents=True)
        (package / "bootstrap").touch()
        self.calls = self.folder / "calls"

    def deploy(self, *arguments, **regions):
        path = f"{self.folder}/programs:{os.environ['PATH']}"
        command = [self.folder / "infra/bin/deploy", "dev", *arguments]
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
        config = self.folder / "infra/samconfig.toml"
        config.write_text(config.read_text().replace("'MonthlyBudget=\"5\"',", "'EnableEdge=\"true\"',"))
        _, calls = self.deploy(AWS_REGION=PARIS)
        [secret] = [call for call in calls if call.startswith("aws ")]
        self.assertIn(f"ssm get-parameter --region {PARIS} ", secret)


if __name__ == "__main__":
    if sys.version_info < (3, 11):
        sys.exit("Python 3.11 is needed")
    unittest.main()

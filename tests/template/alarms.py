#!/usr/bin/env python3
"""Tries the alarms of the processed template on recorded metrics: tests/template/alarms.py <processed template>.

Evaluates metric math as CloudWatch documents it
(https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html), for the functions that the
template uses. Run by infra/bin/check-template.
"""
import json
import pathlib
import re
import sys
import unittest

TEMPLATE = json.loads(pathlib.Path(sys.argv.pop(1)).read_text())
RESOURCES = TEMPLATE["Resources"]
DEFAULTS = {name: str(one.get("Default")) for name, one in TEMPLATE["Parameters"].items()}


def of_type(kind):
    return {name: one["Properties"] for name, one in RESOURCES.items() if one["Type"] == f"AWS::CloudWatch::{kind}"}


def present(values):
    return [one for one in values if one is not None]


FUNCTIONS = {
    "FILL": lambda value, otherwise: otherwise if value is None else value,
    "IF": lambda condition, then, otherwise: None if condition is None else then if condition else otherwise,
    "MAX": lambda values: max(present(values), default=None),
    "SUM": lambda values: sum(present(values)) if present(values) else None,
}


def value(alarm, metrics):
    """What the alarm compares in one period with these metrics, by id or name; None if data is missing."""
    if "MetricName" in alarm:
        return metrics.get(alarm["MetricName"])
    ids = {one["Id"]: one for one in alarm["Metrics"]}

    def of(name):
        if "MetricStat" in ids[name]:
            return metrics.get(name)
        expression = ids[name]["Expression"]
        if isinstance(expression, dict):
            expression = re.sub(r"\$\{(\w+)\}", lambda found: DEFAULTS[found[1]], expression["Fn::Sub"])
        known = {other: of(other) for other in re.findall(r"\b[a-z]\w*\b", expression)}
        try:
            return eval(expression, {"__builtins__": {}} | FUNCTIONS | known)
        except (TypeError, ZeroDivisionError):
            return None  # a missing operand

    [result] = [one["Id"] for one in alarm["Metrics"] if one.get("ReturnData", True)]
    return of(result)


def is_on(name, *periods):
    """Whether the alarm is on after these periods, the newest last, which nothing came before."""
    alarm = of_type("Alarm")[name]
    count = alarm["EvaluationPeriods"]
    values = ([None] * count + [value(alarm, one) for one in periods])[-count:]
    if not present(values):
        return alarm["TreatMissingData"] == "breaching"
    compare = {
        "GreaterThanOrEqualToThreshold": lambda one: one >= alarm["Threshold"],
        "LessThanThreshold": lambda one: one < alarm["Threshold"],
    }[alarm["ComparisonOperator"]]
    return sum(map(compare, present(values))) >= alarm.get("DatapointsToAlarm", count)


def conditional_alarms():
    """The conditions under which the stack has alarms."""
    return {RESOURCES[name]["Condition"] for name in of_type("Alarm") if "Condition" in RESOURCES[name]}


def dashboard(conditions=()):
    """The widgets of the dashboard while these conditions hold."""
    [one] = of_type("Dashboard").values()
    text, values = one["DashboardBody"]["Fn::Sub"]
    for name, value in values.items():
        condition, then, otherwise = value["Fn::If"]
        text = text.replace(f"${{{name}}}", then["Fn::Sub"] if condition in conditions else otherwise)
    return json.loads(re.sub(r"\$\{[^}]*\}", "x", text))["widgets"]


class Alarms(unittest.TestCase):
    def assert_states(self, name, on, off):
        for periods in on:
            self.assertTrue(is_on(name, *periods), f"{name} is off for {periods}")
        for periods in off:
            self.assertFalse(is_on(name, *periods), f"{name} is on for {periods}")

    def test_server_errors_of_ten_thousand_people_are_seen(self):
        quiet, busy = {"requests": 38, "errors": 0}, {"requests": 38, "errors": 5}
        self.assert_states("ServerErrors", on=[
            [busy] * 3, [quiet, busy, busy, quiet, busy], [{"requests": 10_000, "errors": 100}] * 3,
        ], off=[
            [], [quiet] * 5, [busy] * 2, [{"requests": 38, "errors": 4}] * 5, [{"requests": 1, "errors": 1}] * 5,
            [busy | {"panel": 1}] * 5, [{"requests": 10_000, "errors": 99}] * 5,
        ])

    def test_error_budget_needs_ten_errors(self):
        self.assert_states("AvailabilityBurn1h", on=[
            [{"requests": 2280, "errors": 33}], [{"requests": 50, "errors": 10}],
        ], off=[
            [], [{"requests": 2280, "errors": 32}], [{"requests": 50, "errors": 9}],
            [{"requests": 50, "errors": 12, "panel": 3}],
        ])

    def test_latency_budget_needs_ten_slow_answers(self):
        self.assert_states("LatencyBurn1h", on=[[{"requests": 200, "fast": 85}]], off=[
            [], [{"requests": 20, "fast": 85}], [{"requests": 2000, "fast": 99}],
        ])

    def test_one_failing_run_a_minute_is_seen(self):
        for name in ["DispatcherErrors", "WorkerErrors"]:
            self.assert_states(name, on=[[{"runs": 1, "errors": 1}] * 3], off=[
                [{"runs": 1}] * 5, [{"runs": 1, "errors": 1}] * 2, [{"runs": 100, "errors": 4}] * 5,
            ])

    def test_function_that_is_not_invoked_for_five_minutes_is_seen(self):
        for name in ["DispatcherErrors", "WorkerErrors"]:
            self.assert_states(name, on=[[]], off=[[{"runs": 1}] * 5])
            self.assertEqual(of_type("Alarm")[name]["EvaluationPeriods"], 5)

    def test_limits_are_reported_at_four_fifths(self):
        self.assert_states("AccountConcurrency", [[{"used": 800}] * 3], [[], [{"used": 799}] * 5])
        self.assert_states("MailQuotaUsed", [[{"sent": 160}]], [[], [{"sent": 159}]])
        self.assert_states("SmsSpend", [[{"spent": 0.8}]], [[], [{"spent": 0.79}]])

    def test_throttles_of_one_table_are_seen(self):
        metrics = [one["Id"] for one in of_type("Alarm")["TableThrottles"]["Metrics"] if "MetricStat" in one]
        for metric in metrics:
            self.assert_states("TableThrottles", [[{metric: 10}] * 2], [[], [{metric: 10}], [{metric: 9}] * 2])

    def test_discarded_batches_are_seen_until_they_are_removed(self):
        for name in ["StreamFailures", "WorkerStreamFailures"]:
            depth = "ApproximateNumberOfMessagesVisible"
            self.assert_states(name, [[{depth: 1}]], [[], [{depth: 0}]])
        self.assert_states("QueueAge", [[{"worker": 864_000}]], [[], [{"dispatcher": 863_999, "worker": 0}]])

    def test_canary_that_does_not_run_is_seen(self):
        self.assert_states("CanaryFailed", [[], [{"Errors": 1}] * 2], [[{"Errors": 0}] * 2])

    def test_dashboard_has_at_most_the_free_number_of_metrics(self):
        metrics = [metric for widget in dashboard() for metric in widget["properties"].get("metrics", [])]
        self.assertLessEqual(len(metrics), 50)

    def test_dashboard_shows_every_alarm_that_the_stack_has(self):
        for conditions in [set(), *({one} for one in conditional_alarms()), set(conditional_alarms())]:
            alarms = {one["AlarmName"]["Fn::Sub"].split("-")[-1] for name, one in of_type("Alarm").items()
                      if RESOURCES[name].get("Condition") in {None, *conditions}}
            [shown] = [widget["properties"]["alarms"] for widget in dashboard(conditions) if widget["type"] == "alarm"]
            shown = [one.split("-")[-1] for one in shown]
            self.assertEqual((set(shown), len(shown)), (alarms, len(alarms)), conditions)


if __name__ == "__main__":
    unittest.main()

"""Reads the examples of the page whose path is given: Python for Airflow, YAML for GitHub Actions and GitLab."""
import ast
import re
import sys
from types import SimpleNamespace

import yaml

with open(sys.argv[1], encoding="utf-8") as page:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", page.read(), re.M | re.S)
code = [text for kind, text in blocks if kind == "python"]
for text in code:
    ast.parse(text)

# The task calls transect.run with a run of the day, in place of which its arguments are returned.
retried = {}
airflow = {
    "task": lambda **options: retried.update(options) or (lambda function: function),
    "timedelta": lambda **parts: parts,
    "transect": SimpleNamespace(run=lambda *given, **named: ((given, named), None)),
}
exec(next(text for text in code if "@task" in text), airflow)
given, named = airflow["survey"]("/data/flight", ds="2026-05-31")
assert given == ("/opt/flows/survey.lua", "/data/flight") and named == {"flags": ["--run", "survey-2026-05-31"]}, (given, named)
assert retried["retries"] > 0 and set(retried) == {"retries", "retry_delay"}, retried

github, gitlab = [yaml.safe_load(text) for kind, text in blocks if kind == "yaml"]
for name, job in github["jobs"].items():
    assert set(job) == {"runs-on", "env", "steps"}, (name, job)
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step), step
        assert step.get("run", "transect ").startswith("transect "), step
for name, job in gitlab.items():
    assert all(line.startswith("transect ") for line in job["script"]), (name, job)
    assert job["retry"] == {"max": 2, "exit_codes": [5]} and job["artifacts"]["when"] == "always", (name, job)
print(len(code), "python,", sum(kind == "yaml" for kind, _ in blocks), "yaml")

import transect

result, report = transect.run("project.lua", "North quarry", flags=["--local"])
print(result["name"], result["new"], report["end"]["outcome"], report["end"].get("writes", {}).get("sent", 0))
try:
    transect.run("project.lua", flags=["--local"])
except transect.TransectError as error:
    print(error.code, error.name, error.report["end"]["error"]["line"], error.hint is not None)
try:
    transect.run("nowhere.lua", flags=["--local"])
except transect.TransectError as error:
    print(error.code, error.name)

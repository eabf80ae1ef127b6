-- How scripts that take files begin and end.
local script, fs, path = require("script"), require("fs"), require("path")
local outcome = {}

-- check_report refuses a report that could not be written, before anything is made.
function outcome.check_report(report)
  if not report then
    return
  end
  local function refuse(err)
    local reason = err.message:match("[^:]+$"):gsub("^ ", "")
    script.usage_error("the report " .. report .. " cannot be written: " .. reason, "name a report in another folder")
  end
  local ending, folder = report:lower():match("%.(%w+)$"), path.dir(report)
  local there, err = try(fs.is_dir, folder)
  if ending ~= "json" and ending ~= "csv" then
    script.usage_error("the report " .. report .. " is neither .json nor .csv", "its extension selects the format")
  elseif err then
    refuse(err)
  elseif not there then
    local missing = "the folder of the report " .. report .. " does not exist"
    script.usage_error(missing, "create it first, or name another one")
  elseif try(fs.is_dir, report) then
    script.usage_error("the report " .. report .. " cannot be written: it is a folder", "name a file in it")
  end
  local probe = path.join(folder, ".transect-" .. path.base(report))
  local _, unwritten = try(fs.write, probe, "")
  if unwritten then
    refuse(unwritten)
  end
  fs.remove(probe)
end

-- check_files refuses files and folders that do not exist, and patterns that no
-- file matches, before anything is made; hint says what else may be wrong.
function outcome.check_files(paths, hint)
  for _, file in ipairs(paths) do
    if not fs.exists(file) and not file:find("[*?%[{]") then
      hint = hint or "check the path; a relative one starts at the current folder, a name with spaces is quoted"
      script.usage_error("there is no file or folder " .. file, hint)
    elseif not fs.exists(file) and not fs.find(file)() then
      script.usage_error("no file matches " .. file, "check the pattern; quote it, so that the shell leaves it alone")
    end
  end
end

-- finish ends the run with exit code 3 when files need attention, or when there
-- was no file at all: an unmounted card is no success.
function outcome.finish(result, source)
  if result.total == 0 then
    io.stderr:write("no files found in " .. source .. ": is the card mounted?\n")
    script.exit(3)
  end
  script.fail_items(result.bad, result.total)
end

-- damaged_there reports whether the error of a download means that the copy on the platform is damaged: it arrived
-- twice, with the same wrong content.
function outcome.damaged_there(err)
  return err.name == "DownloadError" and (err.hint or ""):find("downloaded twice", 1, true) ~= nil
end

return outcome

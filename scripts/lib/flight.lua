-- Missions made for files that are about to be sent: date, outline and number of
-- images come from the photos among them.
local sdk, ingest, time, run = require("sdk"), require("ingest"), require("time"), require("run")
local flight = {}

-- mission makes the mission of a project for files, chosen by the options of ingest.check. Its date is that of the
-- first photo whose clock can be believed.
function flight.mission(project, name, files)
  local survey = ingest.check(files)
  local options = { project = project, name = name, survey_date = survey.first or time.format(run.started) }
  if survey.footprint then
    options.number_of_images = survey.images
    options.coordinates, options.area = survey.footprint.coordinates[1], survey.area
  end
  return sdk.missions.find_or_create(options)
end

return flight

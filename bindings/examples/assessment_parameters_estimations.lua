local sdk = require("sdk")
local company = sdk.users.describe().company
local project = sdk.projects.create("Trial farm", company)
local field = sdk.fields.create{ company = company, project = project, name = "Long acre" }
local wheat = sdk.crops.create{ company = company, name = "wheat" }
local method = sdk.estimation_methods.create{
  name = "Plant height", companies = company, crops = { wheat }, input_data_requirements = { sensor_type = "rgb" },
  analytic = { name = "rehearsal", version_range = "1.x", parameters = { duration = 0 } },
}
local trial = sdk.trials.create{ field = field, crop = wheat, name = "Density 2026",
  missions = { { name = "Flowering", start_date = "2026-05-20", end_date = "2026-06-05", estimation_methods = { method } } } }
local of_trial = { trial = { ["$eq"] = trial.id } }
local estimations = sdk.assessment_parameters_estimations.search{ filter = of_trial }
local estimation = assert(estimations[1], "there is nothing to estimate for the trial " .. trial.name)

-- assessment_parameters_estimations.export_report_entries
local entries = sdk.assessment_parameters_estimations.export_report_entries{ filter = of_trial }
print(#entries .. " values are reported")

-- assessment_parameters_estimations.search
local open = sdk.assessment_parameters_estimations.search{ filter = { status = { ["$eq"] = "pending" } } }
for _, e in ipairs(open) do print(e.id, e.status) end

-- assessment_parameters_estimations.search_generator
for e in sdk.assessment_parameters_estimations.search_generator{ filter = of_trial } do print(e.id, e.status) end

-- assessment_parameters_estimations.start_analysis_on_ape
local analysing = sdk.assessment_parameters_estimations.start_analysis_on_ape(estimation)
for line in sdk.products.follow_logs(analysing.product) do print(line.record.message) end

-- assessment_parameters_estimations.start_reporting_on_ape
local analysing = sdk.assessment_parameters_estimations.start_analysis_on_ape(estimation)
for _ in sdk.products.follow_logs(analysing.product) do end -- until the analysis has ended
local reported = sdk.assessment_parameters_estimations.start_reporting_on_ape(estimation)
assert(reported.status == "reported")

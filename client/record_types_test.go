package client_test

import (
	"strings"
	"testing"

	"transect/client"
)

func TestRecordFieldsAreDocumented(t *testing.T) {
	for _, r := range client.RecordTypes() {
		if r.Doc == "" {
			t.Errorf("%s has no doc", r.Name)
		}
		everyField(r.Fields, r.Name, func(name string, f client.RecordField) {
			if f.Doc == "" {
				t.Errorf("%s has no doc", name)
			}
		})
	}
}

func everyField(fields []client.RecordField, in string, visit func(name string, f client.RecordField)) {
	for _, f := range fields {
		visit(in+"."+f.Name, f)
		everyField(f.Fields, in+"."+f.Name, visit)
	}
}

func TestRecordField(t *testing.T) {
	for _, c := range []struct {
		manager, name  string
		known          bool
		wire, typ      string
		filter, sorted bool
	}{
		{"datasets", "name", true, "", "string", true, true},
		{"datasets", "id", true, "_id", "id", true, true},
		{"datasets", "_id", true, "_id", "id", true, true},
		{"datasets", "dataset_format", true, "format", "string", true, true},
		{"datasets", "format", true, "", "string", true, true},
		{"datasets", "categories", true, "", "list of string", true, false},
		{"datasets", "ingestion.status", true, "", "string", true, true},
		{"datasets", "ingestion.statsu", false, "", "", false, false},
		{"datasets", "components.name", true, "", "string", true, false},
		{"datasets", "components.0.name", true, "", "string", true, false},
		{"datasets", "properties.anything.below", true, "", "table", true, false},
		{"datasets", "geometry.coordinates.0", true, "", "geometry", true, false},
		{"datasets", "nmae", false, "", "", false, false},
		{"analytics", "container_image", true, "algorithm.docker_image", "string", true, true},
		{"analytics", "algorithm.docker_image", true, "", "string", true, true},
		{"datastreamtemplates", "import_dataset.dataset_parameters.type", true, "", "table", true, false},
		{"trials", "crop", true, "", "id", true, true},
		{"trials", "comment", true, "", "string", false, true}, // the documents list what trials are filtered by
		{"share_tokens", "expiration_date", true, "", "date", true, false},
		{"tags", "name", true, "", "string", false, false},
	} {
		f := client.RecordTypeOf(c.manager).Field(c.name)
		switch {
		case f == nil && c.known, f != nil && !c.known:
			t.Errorf("%s: field %s: got %+v", c.manager, c.name, f)
		case f != nil && (f.Wire != c.wire || f.Type != c.typ || f.Filter != c.filter || f.Sort != c.sorted):
			t.Errorf("%s: field %s: got %+v, want %+v", c.manager, c.name, *f, c)
		}
	}
}

// TestRecordsHaveTheirDocumentedAttributes: part 2.2 of the interface documents, by manager.
func TestRecordsHaveTheirDocumentedAttributes(t *testing.T) {
	for manager, attributes := range map[string]string{
		"projects": `id name geometry industry created company missions user modification_date modification_user real_bbox place_name location fixed
			horizontal_srs_wkt vertical_srs_wkt local_coords_dataset status units.distances units.surfaces units.volumes units.altitude units.gsd units.weight units.slope`,
		"missions": "id name project survey_date flights geometry created user modification_date modification_user real_bbox",
		"analytics": `name version container_image container_credentials_name company display_name description instance_type volume_size inputs parameters credentials
			deliverables outputs tags groups`,
		"analytic_configurations": "name analytic_name description creation_date modification_date versions.analytic_version_range versions.value",
		"products":                "status",
		"annotations": `project mission type geometry stroke stroke_dasharray icon stroke_width stroke_opacity fill fill_opacity target name description followers
			attachments normals`,
		"datasets": `name type categories company project mission hidden published horizontal_srs_wkt vertical_srs_wkt dataset_format geometry properties components.name
			flight acquisition_date width height sensor lens camera_parameters reflectance_calibration_panel offset bands ingestion.status`,
		"features":                "geometry properties collection attachments",
		"credentials":             "name company labels credentials.type credentials.login credentials.registry credentials.cloud_region credentials.blob_client_id credentials.blob_tenant_id credentials.client_id credentials.token_url",
		"share_tokens":            "token expiration_date scope",
		"tags":                    "name project type target flight",
		"comments":                "text project type target flight",
		"teams":                   "company name leader",
		"pilots":                  "user teams carrier_models sensor_models",
		"carriers":                "carrier_model team serial_number firmware status comment",
		"carrier_models":          "name maker type company unloaded_weight.value flight_time speed altitude compatible_sensor_models",
		"sensors":                 "sensor_model team serial_number firmware comment",
		"sensors_models":          "name maker type company weight.value lens_type width height focal_length pixel_size principal_point distortion bands",
		"crops":                   "company name creation_date modification_date deletion_date",
		"growth_stages":           "name company",
		"estimation_methods":      "name companies input_data_requirements.sensor_type crops description status analytic.version_range growth_stages",
		"trials":                  "field name crop comment season location missions links custom_id plots dtm_dataset",
		"season_planner_missions": "trial name start_date end_date description estimation_methods growth_stages_range.from company",
		"collection_tasks": `name site survey location forecast_date_range.start_date scheduled_date_range.end_date team pic comment custom_props requirement purpose status
			field_report`,
		"assessment_parameters_estimations": "_id company creation_date modification_date deletion_date trial mission estimation_method collection_task survey product status",
		"datastreamtemplates":               "name source.type import_dataset.dataset_parameters.type contextualisation transform aggregate company description",
	} {
		for _, name := range strings.Fields(attributes) {
			if r := client.RecordTypeOf(manager); r == nil || r.Field(name) == nil {
				t.Errorf("%s: there is no attribute %s", manager, name)
			}
		}
	}
}

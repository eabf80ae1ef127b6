package client

// Fields are the pieces of land that trials are on.
type Fields struct {
	Create   Op[CreateField, Field]    `create:"create-field" doc:"Create a field."`
	Delete   Op[Ref, None]             `delete:"delete-field" doc:"Delete a field."`
	Describe Op[FieldIDs, Some[Field]] `read:"describe-field|describe-fields" chunk:"1000" doc:"Describe one field or a list of fields. A choice of properties of several fields takes one request each."`
	Search   SearchOp[Query, Field]    `read:"search-fields" page:"0" doc:"Find fields."`
	Update   Op[UpdateField, Field]    `set:"update-field" doc:"Change a field."`
}

// Inputs of the field operations.
type (
	CreateField struct {
		Company     ID     `arg:"company,req" doc:"company it belongs to"`
		Project     ID     `arg:"project,req" doc:"project it lies in"`
		Name        string `arg:"name,req" doc:"name of the field"`
		Description string `arg:"description" doc:"what it is"`
		Extra
	}
	FieldIDs struct {
		Field  IDs    `arg:"field,req,pos" many:"fields" doc:"field, or a list of fields"`
		Fields Object `arg:"fields" omit:"falsy" doc:"what to return of each: {include = {names}} or {exclude = {names}}, not both"`
		Extra
	}
	UpdateField struct {
		Field       ID     `arg:"field,req" doc:"field"`
		Project     ID     `arg:"project,req" doc:"project it lies in"`
		Name        string `arg:"name,req" doc:"its name, the old one or a new one"`
		Company     ID     `arg:"company" doc:"company it belongs to from now on"`
		Description string `arg:"description" doc:"what it is"`
		Extra
	}
)

// Validate refuses fields that both include and exclude.
func (in FieldIDs) Validate() error { return oneChoice(in.Fields) }

// Chunk asks for one field at a time when properties are chosen: the route for
// lists takes the ids under the very key that would hold the choice.
func (in FieldIDs) Chunk() int {
	if len(in.Fields) > 0 || in.Extra.Extra["fields"] != nil {
		return 1
	}
	return 0
}

// Field is a piece of land that trials are on.
type Field struct {
	Record      `doc:"Piece of land that trials are on."`
	Company     string `json:"company" type:"id" doc:"company it belongs to"`
	Project     string `json:"project" type:"id" doc:"project it lies in"`
	Name        string `json:"name" doc:"name of the field"`
	Description string `json:"description" doc:"what it is"`
	History
}

package bind

// Template is a path with variables, as RFC 6570 writes it.
type Template struct{ vars []TemplateVar }

// TemplateVar is one variable of a template, where it stands.
type TemplateVar struct {
	Name string
	// Optional says that the variable may be absent: {/x} and {?x}.
	Optional bool
	// Offset is where the name begins, in bytes from the start of the template.
	Offset int
}

// Vars gives every place of a variable, in order.
func (t *Template) Vars() []TemplateVar { return t.vars }

package surface

import (
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/metacue/metacue/runtime/catalog"
	"github.com/metacue/metacue/runtime/skill"
)

// Resource is one entry of resources/list with its text.
type Resource struct {
	Listed *mcp.Resource
	Text   string
}

// skillScheme begins the URI of every file of a skill: skill://NAME/SKILL.md.
const skillScheme = "skill://"

// Resources gives the files of the catalog's skills, in the wording of s, in the
// order of the catalog.
func Resources(c *catalog.Catalog, s Surface) []Resource {
	var all []Resource
	for _, of := range c.Skills {
		for i, f := range skill.Files(c, of, s.Spell) {
			r := &mcp.Resource{URI: skillScheme + f.Path, Name: f.Path, MIMEType: "text/markdown", Size: int64(len(f.Text))}
			if i == 0 {
				r.Name, r.Description = of.Name, skill.Description(of)
			}
			all = append(all, Resource{r, f.Text})
		}
	}
	return all
}

// skilled is a surface whose instructions tell of the skills.
type skilled struct {
	Surface
	line string
}

// withSkills tells of the catalog's skills, where there are some.
func withSkills(c *catalog.Catalog, s Surface) Surface {
	if len(c.Skills) == 0 {
		return s
	}
	var names []string
	for _, of := range c.Skills {
		names = append(names, of.Name)
	}
	return &skilled{s, fmt.Sprintf("Resources %sNAME/SKILL.md explain tasks whole: %s.", skillScheme, strings.Join(names, ", "))}
}

func (s *skilled) Instructions() string {
	return strings.TrimSpace(s.Surface.Instructions() + "\n" + s.line)
}

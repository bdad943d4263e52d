package analyze

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// shared are the files of this package that belong to no analysis: dump is a command of its own.
var shared = map[string]bool{"doc": true, "registry": true, "dump": true}

// TestNoAnalysisUsesAnother: a file is of the analysis that it is named after, NAME.go or
// NAME_part.go, and what it declares is used by that analysis alone. What several share is
// in a package of its own.
func TestNoAnalysisUsesAnother(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files, declared := map[string]*ast.File{}, map[string]string{} // name to the analysis that declares it
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = f
		owner := ownerOf(path)
		if !shared[owner] && Find(owner) == nil {
			t.Errorf("%s: there is no analysis %s; a part of one is called NAME_part.go, and what several use is in a package", path, owner)
		}
		for name := range f.Scope.Objects {
			declared[name] = owner
		}
	}
	for path, f := range files {
		keys := literalKeys(f)
		for _, id := range f.Unresolved {
			owner, ok := declared[id.Name]
			if ok && !keys[id] && !shared[owner] && owner != ownerOf(path) {
				t.Errorf("%s uses %s of %s", path, id.Name, owner)
			}
		}
	}
}

// ownerOf is the analysis that a file is named after.
func ownerOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(path, ".go"), "_")
	return name
}

// literalKeys are the identifiers in front of the colons of composite literals: most are
// names of fields, which the parser cannot tell from variables.
func literalKeys(f *ast.File) map[*ast.Ident]bool {
	keys := map[*ast.Ident]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				keys[id] = true
			}
		}
		return true
	})
	return keys
}

/** Which file of the repository imports which: a name that comes through the index.ts of a lib counts for the file that declares it. */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

const LIB = /^#libs\/(.+)$/;

export class ImportGraph {
  private readonly known = new Map<string, ReadonlySet<string>>();

  /** Whether one of the two imports the other; for its types alone is enough. */
  readonly joined = (one: string, other: string): boolean =>
    this.importsOf(one).has(other) || this.importsOf(other).has(one);

  /** @param file a path from the root of the repository */
  importsOf(file: string): ReadonlySet<string> {
    let imports = this.known.get(file);
    if (imports === undefined) {
      imports = new Set(statementsOf(file).flatMap((statement) => targetsOf(file, statement)));
      this.known.set(file, imports);
    }
    return imports;
  }
}

function statementsOf(file: string): readonly ts.Statement[] {
  if (!existsSync(file)) return [];
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest).statements;
}

function targetsOf(file: string, statement: ts.Statement): string[] {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
  const from = statement.moduleSpecifier;
  if (from === undefined || !ts.isStringLiteral(from)) return [];
  const lib = LIB.exec(from.text)?.[1];
  if (lib !== undefined) return namesOf(statement).flatMap((name) => declaring(lib, name));
  return from.text.startsWith('.') ? [pathOf(file, from.text)] : [];
}

function pathOf(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
}

/** As the other file calls them. */
function namesOf(statement: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const clause = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  if (clause === undefined || !(ts.isNamedImports(clause) || ts.isNamedExports(clause))) return [];
  return clause.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

/** The file behind a name of a lib's index; none where the index takes it from another package. */
function declaring(lib: string, name: string): string[] {
  const index = `libs/${lib}/src/index.ts`;
  return statementsOf(index)
    .filter(ts.isExportDeclaration)
    .filter(({ exportClause }) => {
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) return false;
      return exportClause.elements.some((element) => element.name.text === name);
    })
    .flatMap((statement) => targetsOf(index, statement));
}

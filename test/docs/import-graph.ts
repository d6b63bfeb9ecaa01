/**
 * The imports between the repository's files. A name that comes through a lib's index.ts counts for the file that
 * declares the name.
 */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript';

const LIB = /^#libs\/(.+)$/;

export class ImportGraph {
  private readonly known = new Map<string, ReadonlySet<string>>();

  /** Whether one of the two files imports the other; an import of types counts too. */
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

const parsed = new Map<string, readonly ts.Statement[]>();

function statementsOf(file: string): readonly ts.Statement[] {
  let statements = parsed.get(file);
  if (statements === undefined) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    ({ statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
    parsed.set(file, statements);
  }
  return statements;
}

function targetsOf(file: string, statement: ts.Statement): string[] {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
  const from = statement.moduleSpecifier;
  if (from === undefined || !ts.isStringLiteral(from)) return [];
  const lib = LIB.exec(from.text)?.[1];
  if (lib !== undefined) {
    return namesOf(statement).flatMap((name) => declaring(`libs/${lib}/src/index.ts`, name));
  }
  return from.text.startsWith('.') ? [pathOf(file, from.text)] : [];
}

function pathOf(file: string, specifier: string): string {
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts');
}

/** The names of the imports or exports, as the other file exports them. */
function namesOf(statement: ts.ImportDeclaration | ts.ExportDeclaration): string[] {
  const clause = ts.isImportDeclaration(statement)
    ? statement.importClause?.namedBindings
    : statement.exportClause;
  if (clause === undefined || !(ts.isNamedImports(clause) || ts.isNamedExports(clause))) return [];
  return clause.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

/**
 * The files that declare a name which an index exports, by name or by `export *`; empty where another package declares
 * it.
 */
function declaring(index: string, name: string): string[] {
  return statementsOf(index)
    .filter(ts.isExportDeclaration)
    .flatMap((statement) => {
      const targets = targetsOf(index, statement);
      if (statement.exportClause !== undefined) {
        return namesOf(statement).includes(name) ? targets : [];
      }
      return targets.flatMap((file) => (declares(file, name) ? [file] : declaring(file, name)));
    });
}

function declares(file: string, name: string): boolean {
  return statementsOf(file).some((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return false;
    const declared = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations
      : [statement as ts.DeclarationStatement];
    return declared.some(
      (one) => one.name !== undefined && ts.isIdentifier(one.name) && one.name.text === name,
    );
  });
}

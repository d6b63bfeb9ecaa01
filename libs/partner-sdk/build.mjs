/**
 * Builds the published form of the package: ES modules and CommonJS, each with its types.
 *
 *   node build.mjs [directory]   default: dist next to this file
 *
 * `canonicalize` is an ES module that CommonJS cannot require, not even in a Node version that lets CommonJS require ES
 * modules, because its `exports` name `import` only. The CommonJS form therefore carries a converted copy, with its
 * licence.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = import.meta.dirname;
const out = resolve(process.argv[2] ?? join(here, 'dist'));
const cjs = join(out, 'cjs');

rmSync(out, { recursive: true, force: true });
compile('tsconfig.build.json', join(out, 'esm'));
compile('tsconfig.build.cjs.json', cjs);
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
bringCanonicalize();

function compile(project, outDir) {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const args = [tsc, '-p', join(here, project), '--outDir', outDir];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
}

function bringCanonicalize() {
  const source = fileURLToPath(import.meta.resolve('canonicalize'));
  const vendor = join(cjs, 'vendor');
  mkdirSync(vendor);
  copyFileSync(join(dirname(source), '../LICENSE'), join(vendor, 'canonicalize.LICENSE'));
  const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  });
  const note =
    '// canonicalize, converted from an ES module to CommonJS; see canonicalize.LICENSE.\n';
  writeFileSync(join(vendor, 'canonicalize.js'), note + outputText);
  const user = join(cjs, 'signing/signing.js');
  const text = readFileSync(user, 'utf8');
  const required = 'require("canonicalize")';
  if (text.split(required).length !== 2) throw new Error(`${user} does not require canonicalize`);
  writeFileSync(user, text.replace(required, 'require("../vendor/canonicalize.js")'));
}

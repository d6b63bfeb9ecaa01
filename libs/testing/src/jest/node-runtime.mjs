/**
 * Runs the test files of whole services in Node itself, like the programs. Jest's own runtime, which runs the unit
 * tests, would load every file's libraries again into a separate context, which takes longer than the tests. The test
 * files of a worker share the modules that they import, so a module must keep no state that another test file could see.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

const GLOBALS = new URL('globals.mjs', import.meta.url).href;
const ROOT = new URL('../../../../', import.meta.url).href;

/** `describe`, `expect` and the other Jest globals of the test file that runs now. */
export let globals;

let transformer;
const sourceMaps = new Map();

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (!context.parentURL?.endsWith('.ts')) return nextResolve(specifier, context);
    const isGlobals = specifier === '@jest/globals';
    return nextResolve(isGlobals ? GLOBALS : sourceOf(specifier, context.parentURL), context);
  },
  load(url, context, nextLoad) {
    if (!url.endsWith('.ts')) return nextLoad(url, context);
    return { format: 'module', source: transform(url), shortCircuit: true };
  },
});

/**
 * @returns the TypeScript source of a module where there is one; only the programs that a test starts use compiled code
 */
function sourceOf(specifier, parentUrl) {
  // Matches `#libs/partner-sdk`, and a subpath such as `#libs/partner-sdk/conformance`.
  const [, lib, entry = ''] = /^#libs\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
  if (lib !== undefined) return `${ROOT}libs/${lib}/src${entry}/index.ts`;
  if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return specifier;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parentUrl);
  return existsSync(source) ? source.href : specifier;
}

function transform(url) {
  const file = fileURLToPath(url);
  const options = { supportsStaticESM: true, supportsDynamicImport: true };
  const { code, sourceMapPath } = transformer.transform(file, options, readFileSync(file, 'utf8'));
  if (sourceMapPath) sourceMaps.set(url, sourceMapPath);
  return code;
}

/**
 * The interface that Jest expects of a runtime (`runtime` in jest.config.mjs). Module mocks and coverage are not
 * supported.
 */
export default class NodeRuntime {
  constructor(_config, _environment, _resolver, jestTransformer) {
    transformer = jestTransformer;
  }

  /**
   * Loads the part of Jest that collects and runs tests: a new copy each time, since a used copy still holds the tests
   * of another file.
   */
  requireInternalModule(file) {
    delete require.cache[file];
    return require(file);
  }

  setGlobalsForRuntime(ofThisFile) {
    globals = ofThisFile;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(file) {
    return import(pathToFileURL(file).href);
  }

  requireModule(file) {
    return require(file);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}

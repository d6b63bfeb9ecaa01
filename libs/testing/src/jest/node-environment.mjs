import { relative } from 'node:path';
import { reportUsage, usageNow } from './usage.mjs';
import { watchEventLoop } from './watch-event-loop.mjs';

let tellTest;

/**
 * The Jest environment of node-runtime.mjs: the process itself. `teardown` restores the console, `process.exit` and the
 * environment variables after each test file.
 */
export default class NodeEnvironment {
  global = globalThis;
  #console = globalThis.console;
  #exit = process.exit;
  #variables = { ...process.env };
  #usage = usageNow();
  #path;

  constructor({ globalConfig }, { testPath }) {
    this.#path = relative(globalConfig.rootDir, testPath);
    tellTest ??= watchEventLoop(globalConfig.testTimeout);
    tellTest(this.#path);
  }

  handleTestEvent({ name, test }) {
    if (name === 'test_start') tellTest(`${this.#path}: ${nameOf(test)}`);
  }

  async setup() {}

  async teardown() {
    globalThis.console = this.#console;
    process.exit = this.#exit;
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#variables)) delete process.env[name];
    }
    Object.assign(process.env, this.#variables);
    reportUsage(this.#path, this.#usage);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

function nameOf({ name, parent }) {
  const isTop = parent === undefined || parent.name === 'ROOT_DESCRIBE_BLOCK';
  return isTop ? name : `${nameOf(parent)} › ${name}`;
}

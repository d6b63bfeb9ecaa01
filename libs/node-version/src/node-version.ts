/**
 * The oldest supported Node, as in `engines` of package.json. This file imports nothing, so that it runs on any Node.
 */
const OLDEST = { major: 22, minor: 19 };

/** Why the program cannot run on this version of Node, in one line; undefined where it can. */
export function nodeFault(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNewEnough = major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor);
  return isNewEnough
    ? undefined
    : `This is Node ${version}, and Lowmark needs ${OLDEST.major}.${OLDEST.minor} or newer. Start it with another one, or by its npm script, which brings its own.`;
}

/** Whether this Node is supported. If not, it prints the reason and sets exit code 1. */
export function hasSupportedNode(): boolean {
  const fault = nodeFault(process.versions.node);
  if (fault === undefined) return true;
  console.error(fault);
  process.exitCode = 1;
  return false;
}

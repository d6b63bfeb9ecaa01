/**
 * The environment of the services: that of the stack itself, so that every setting of theirs can be made when it starts,
 * and what the stack adds. A variable the stack adds replaces both its forms (`NAME` and `NAME_FILE`); a default gives way to
 * one that is not empty; a list, its entries separated by commas, is followed by what is set already.
 */
export function childEnvironment(
  added: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
  lists: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv {
  // eslint-disable-next-line no-restricted-syntax -- handed on as it is; what the stack itself needs is in stack.env.ts
  const environment: NodeJS.ProcessEnv = { ...process.env };
  for (const [name, value] of Object.entries(defaults)) {
    if (!environment[name]) environment[name] = value;
  }
  for (const [name, value] of Object.entries(lists)) {
    environment[name] = environment[name] ? `${value},${environment[name]}` : value;
  }
  for (const [name, value] of Object.entries(added)) {
    environment[name] = value;
    environment[`${name}_FILE`] = undefined;
  }
  return environment;
}

/** Whether npm runs us: it then sits, with a shell, between us and the process that started it. */
export function startedByNpm(): boolean {
  // eslint-disable-next-line no-restricted-syntax -- npm's own variable, in lower case: not a setting
  return process.env['npm_lifecycle_event'] !== undefined;
}

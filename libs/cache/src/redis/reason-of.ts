/**
 * Why Redis cannot be used, for people. An error of the driver carries the command it belongs to, at worst AUTH with the password: only
 * its code goes on, and a right that is missing, as `ACL SETUSER` calls it (`NOPERM +hget`).
 */
export function reasonOf(error: Error & { code?: unknown }): string {
  if (typeof error.code === 'string') return error.code;
  const code = /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? 'the connection failed';
  return code === 'NOPERM' ? `NOPERM ${rightOf(error.message)}` : code;
}

function rightOf(message: string): string {
  const command = /run the '([a-z|]{1,30})' command/.exec(message)?.[1];
  return command === undefined ? '~lowmark:*' : `+${command}`;
}

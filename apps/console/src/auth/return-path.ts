import { HttpProblem } from '#libs/service';

const LONGEST = 2048;
/** The pages that need a sign-in. */
const OWN = /^\/(?:operate|partner)(?:[/?#]|$)/;

/**
 * Where a sign-in leads back to: a page of this console, whatever tricks browsers read into the text.
 * @throws HttpProblem 400
 */
export function returnPath(text: string, consoleOrigin: string): string {
  if (text.length <= LONGEST && URL.canParse(text, consoleOrigin)) {
    const { origin, pathname, search, hash, username } = new URL(text, consoleOrigin);
    const path = `${pathname}${search}${hash}`;
    const isOwn = origin === consoleOrigin && username === '' && text.startsWith('/');
    if (isOwn && OWN.test(path) && path.length <= LONGEST) return path;
  }
  throw HttpProblem.badRequest('returnTo', 'returnTo must be a path of these pages.');
}

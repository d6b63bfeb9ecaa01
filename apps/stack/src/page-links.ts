import { isLoopback } from '#libs/config';
import { type StackContext } from './context.js';
import { operator, type OperatorSettings } from './programs.js';
import { localUrl } from './services.js';

/** The first web page of each kind of user. */
export interface PageLinks {
  readonly players: string;
  /** A link that signs in once; absent where the console's origin is not on this machine. */
  readonly operators?: string;
  /** A link that makes one person a member of the partner. */
  readonly partner: string;
}

export async function makePageLinks(
  { settings }: StackContext,
  partner: string,
  operatorSettings: OperatorSettings,
): Promise<PageLinks> {
  const origin = settings.consoleOrigin ?? localUrl(settings.consolePort);
  const make = async (...args: readonly string[]): Promise<string> => {
    const out = await operator([...args, '--json'], {
      ...operatorSettings,
      CONSOLE_ORIGIN: origin,
    });
    return (JSON.parse(out) as { readonly url: string }).url;
  };
  const invite = make('partner', 'invite', partner, '--note', 'npm start');
  const links = { players: `${origin}/redeem`, partner: await invite };
  if (!isLoopback(origin)) return links;
  return { ...links, operators: await make('console', 'link', '--role', 'admin') };
}

import { isLoopback } from '#libs/config';
import { type StackContext } from './context.js';
import { operator, type OperatorSettings } from './programs.js';
import { localUrl } from './services.js';

/** Where the web pages begin for each who uses them. */
export interface PageLinks {
  readonly players: string;
  /** Signs in once; absent where others than this machine reach the pages. */
  readonly operators?: string;
  /** Makes one person a member of the partner. */
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

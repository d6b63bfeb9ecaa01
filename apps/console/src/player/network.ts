import { url } from '#libs/config';

/** The network as wallets know it. */
export interface Network {
  readonly name: string;
  /** The coin in which the network takes its fees. */
  readonly coin: string;
  /** A public RPC endpoint; null: players add the network themselves. */
  readonly rpcUrl: string | null;
}

const FORM = /^([^,\s][^,]{0,39}?)\s*,\s*([^,\s][^,]{0,9}?)(?:\s*,\s*(\S+))?$/;

/**
 * The network of CONSOLE_NETWORK: name, coin and, optionally, RPC URL, separated by commas.
 * @throws Error where the text is not of this form
 */
export function network(text: string): Network {
  const [, name, coin, rpcUrl] = FORM.exec(text.trim()) ?? [];
  if (name === undefined || coin === undefined) {
    throw new Error(
      'must be a name of up to 40 characters, a coin of up to 10 and, if there is one, an RPC URL: Base, ETH, https://mainnet.base.org',
    );
  }
  return { name, coin, rpcUrl: rpcUrl === undefined ? null : url('https', 'http')(rpcUrl) };
}

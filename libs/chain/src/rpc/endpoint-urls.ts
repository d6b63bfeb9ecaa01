/** The entries of RPC_URLS, and the providers that their names tell: one for each domain. */
import { PermanentError } from '#libs/domain';
import { secretsOf } from './redact.js';
import { type Budget } from './rate.js';

export interface EndpointUrl {
  /** The URL without its fragment. */
  readonly url: URL;
  readonly endpoint: string;
  /** Parts of the URL that must not appear anywhere. */
  readonly secrets: readonly string[];
  readonly budget: Budget | undefined;
}

/** Budgets by their name in the fragment of a URL, which is never sent. */
const BUDGETS: Readonly<Record<string, Budget['unit']>> = { rps: 'calls', cups: 'computeUnits' };
const BUDGET = /^#(rps|cups)=(\d{1,9}(?:\.\d{1,3})?)$/;
const SHORTEST_SECRET = 6;

/**
 * @returns each URL with its name, secrets and budget
 * @throws PermanentError naming the place of a wrong URL, never its text, which may contain a key
 */
export function endpointUrls(urls: readonly string[]): EndpointUrl[] {
  if (urls.length === 0) throw invalid('RPC_URLS names no endpoint.');
  return urls.map((text, index) => {
    const place = index + 1;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw invalid(`RPC_URLS: entry ${place} is not an http or https URL.`);
    }
    const budget = budgetOf(url.hash, place);
    url.hash = '';
    const hidden = hiddenLabels(url).filter((label) => label.length >= SHORTEST_SECRET);
    const secrets = [...new Set([...secretsOf(url), ...hidden])];
    return {
      url,
      endpoint: endpointName(url, place),
      secrets: secrets.sort((a, b) => b.length - a.length),
      budget,
    };
  });
}

/**
 * The name of an endpoint in logs and metrics: the end of its host, which contains no key, and its place in RPC_URLS,
 * from 1 on.
 */
export function endpointName(url: URL, place: number): string {
  return `${shownHost(url)}#${place}`;
}

function budgetOf(fragment: string, place: number): Budget | undefined {
  if (fragment === '') return undefined;
  const [, name = '', figure = ''] = BUDGET.exec(fragment) ?? [];
  const [unit, perSecond] = [BUDGETS[name], Number(figure)];
  if (!unit || perSecond <= 0) {
    throw invalid(
      `RPC_URLS: what entry ${place} has behind the # is no budget. Allowed: #rps=<calls a second> or #cups=<compute units a second>.`,
    );
  }
  return { perSecond, unit };
}

/** The labels of the host before the last two. QuickNode, Chainstack and dedicated nodes have keys in these labels. */
function hiddenLabels({ hostname }: URL): string[] {
  const isAddress = /^\[|^[\d.]+$/.test(hostname);
  return isAddress ? [] : hostname.split('.').slice(0, -2);
}

function shownHost(url: URL): string {
  const hidden = hiddenLabels(url).join('.');
  return hidden === '' ? url.host : url.host.slice(hidden.length + 1);
}

function invalid(message: string): PermanentError {
  return new PermanentError('RPC_URLS_INVALID', message);
}

/** The provider of an endpoint: its domain, which is the part of its name before the place. */
export function providerOf(endpoint: string): string {
  return endpoint.replace(/#\d+$/, '');
}

/** How long another provider is waited for if one provider is enough during an outage of the other. */
export const OUTAGE_PATIENCE_MS = 1_000;

export function countProviders(endpoints: readonly string[]): number {
  return new Set(endpoints.map(providerOf)).size;
}

/**
 * The endpoints of this endpoint's provider, itself included. They are avoided if another provider has to answer.
 */
export function ownProvider(endpoint: string, endpoints: readonly string[]): string[] {
  const provider = providerOf(endpoint);
  return endpoints.filter((name) => providerOf(name) === provider);
}

export function otherProvidersThan(endpoint: string, endpoints: readonly string[]): string[] {
  const provider = providerOf(endpoint);
  return endpoints.filter((name) => providerOf(name) !== provider);
}

import { pathOf, signedContent, verifySignature } from '#libs/signing';
import { type StackContext } from './context.js';
import { type StackFile, type StackPartner } from './data/stack-file.js';
import { type StackChain } from './chain/start-chain.js';
import { type PageLinks } from './page-links.js';
import { StackError } from './stack.error.js';

/** An example wallet without a stake, for chains whose wallets we do not know. */
const NO_STAKER = '0x000000000000000000000000000000000000dead';

interface ShownStack {
  readonly partner: StackPartner;
  readonly chain: StackChain;
  readonly links: PageLinks;
}

/** Shows all addresses, sends the example request that it shows, and verifies the answer. */
export async function showStack(
  { screen, file, paths }: StackContext,
  { partner, chain, links }: ShownStack,
): Promise<void> {
  const places = file.content;
  const { apiUrl = '', indexerUrl = '', rpcUrl = '' } = places;
  const { stakeContract = '', tokenContract = '' } = places;
  // The second wallet acts often (see `Crowd`).
  const wallet = chain.local?.wallets[1] ?? NO_STAKER;
  const url = `${apiUrl}/api/staking/snapshots?walletAddress=${wallet}&lastDays=7`;
  screen.lines(
    '',
    `  Staking API        ${apiUrl}  (description: ${apiUrl}/docs)`,
    `  Indexer            ${indexerUrl}/health/ready, ${indexerUrl}/metrics`,
    ...(chain.vault ? redeeming(places) : []),
    ...(chain.local ? [`  Chain (JSON-RPC)   ${rpcUrl}`] : []),
    `  Token              ${tokenContract}`,
    `  Staking contract   ${stakeContract}`,
    ...(chain.vault ? [`  Redemption vault   ${places.vaultContract ?? ''}`] : []),
    ...(chain.registry ? [`  Day roots          ${places.registryAddress ?? ''}`] : []),
    ...(chain.local ? [`  Example wallet     ${wallet}`] : []),
    `  Partner            ${partner.name}`,
    `  API key            ${partner.apiKey}`,
    `  Shared secret      ${partner.sharedSecret}`,
    '',
    '  A signed request, and what the commands of the README begin with:',
    '',
    // `-i` shows the signature header.
    `    curl -i -H 'X-API-KEY: ${partner.apiKey}' '${url}'`,
    `    export STAKING_URL=${apiUrl} STAKING_API_KEY=${partner.apiKey} STAKING_SECRET=${partner.sharedSecret} WALLET=${wallet}`,
    // The URL of a provider's node may contain a key.
    ...(chain.local
      ? [
          `    export LOWMARK_RPC_URL=${rpcUrl} STAKE_CONTRACT=${stakeContract}${registryVariable(places)}`,
        ]
      : []),
    '',
  );
  const { status, verified, body } = await request(url, partner);
  if (!verified) {
    throw new StackError(
      `The answer to this request (status ${status}) does not carry a signature of the shared secret: ${body.slice(0, 300)}`,
    );
  }
  const about =
    status === 404 ? ': no stake of this wallet is known, put one of yours in its place' : '';
  screen.lines(
    `  Sent it here as well: status ${status}${about}.`,
    '  X-API-SIGNATURE verified: HMAC-SHA256 of "GET" + path + body under the shared secret.',
    ...(chain.local ? byHand(places) : []),
    ...pages(links, chain),
    '',
    `  Logs are in ${paths.logs}/, all of this is in .data/stack.json. Ctrl-C ends everything.`,
    '',
  );
}

function registryVariable({ registryAddress }: StackFile): string {
  return registryAddress === undefined ? '' : ` REGISTRY=${registryAddress}`;
}

function redeeming({ redemptionUrl = '', partnerUrl = '' }: StackFile): string[] {
  return [
    `  Redemption         ${redemptionUrl}  (description: ${redemptionUrl}/docs)`,
    `  Reference partner  ${partnerUrl}`,
  ];
}

/** The pages in the order in which one looks at them. The second and the third show the demonstration that follows. */
function pages({ players, operators, partner }: PageLinks, { vault, local }: StackChain): string[] {
  const wallet = local ? ' (the test wallet has points)' : '';
  return [
    '',
    '  In the browser:',
    '',
    ...(vault ? [`    Players    ${players}${wallet}`] : []),
    ...(operators === undefined ? [] : [`    Operators  ${operators} (good once, for 15 minutes)`]),
    `    Partner    ${partner} (good once, for 7 days)`,
  ];
}

/** The variables of docs/partners/quick-start.md, step 6; `player` has points. */
function byHand({ redemptionUrl, rpcUrl, chainId, partner, player }: StackFile): string[] {
  return [
    '',
    '  To redeem by hand, with the commands of docs/partners/quick-start.md, step 6:',
    '',
    `    url=${redemptionUrl ?? ''} rpc=${rpcUrl ?? ''} chain=${chainId ?? ''} partner=${partner?.name ?? ''} wallet=${player ?? ''}`,
  ];
}

interface RequestOutcome {
  readonly status: number;
  readonly verified: boolean;
  readonly body: string;
}

/** Sends the example request and verifies the signature of the answer over the received bytes, as a partner does. */
async function request(url: string, partner: StackPartner): Promise<RequestOutcome> {
  const answer = await fetch(url, {
    headers: { 'X-API-KEY': partner.apiKey },
    signal: AbortSignal.timeout(10_000),
  });
  const body = await answer.text();
  const content = signedContent({ method: 'GET', path: pathOf(url), body });
  const signature = answer.headers.get('X-API-SIGNATURE') ?? undefined;
  return {
    status: answer.status,
    verified: verifySignature(partner.sharedSecret, content, signature),
    body,
  };
}

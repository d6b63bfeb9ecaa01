/** Remains of a trial on a local chain in its database or settings. They are a fault in production only. */
import { CallbackStore, PriceStore } from '#libs/db';
import { parsePartnerUrl } from '#libs/partner-client';
import { printable } from '#libs/operations';
import { type Answer, check, fault, SCHEMA, warning } from './checks.js';
import { type Subject } from './subject.js';

/** The voucher lifetime of a trial. */
const SHORT_TTL_SECONDS = 300;

export const trialChecks = [
  check({
    title: 'trial: vouchers',
    needs: [],
    ask: ({ settings }) =>
      isProduction(settings) && settings.voucherTtlSeconds <= SHORT_TTL_SECONDS
        ? fault(`vouchers live ${settings.voucherTtlSeconds} s: too short to claim, as in a trial`)
        : undefined,
    remedy: 'Remove VOUCHER_TTL_SECONDS, or set a longer one.',
  }),
  check({ title: 'trial: price', needs: SCHEMA, ask: priceAnswer }),
  check({ title: 'trial: partners', needs: SCHEMA, ask: partnersAnswer }),
];

async function priceAnswer(subject: Subject): Promise<Answer | undefined> {
  if (!isProduction(subject.settings)) return undefined;
  const price = await new PriceStore(await subject.stakes()).newest();
  return price?.source === 'fixed'
    ? fault(
        `${price.usd} USD is fixed, as in a trial`,
        'Set PRICE_SOURCE and restart the indexer. A database of a trial is not one to go on with.',
      )
    : undefined;
}

async function partnersAnswer(subject: Subject): Promise<Answer | undefined> {
  if (!isProduction(subject.settings)) return undefined;
  const callbacks = await new CallbackStore(await subject.database()).list();
  const refused = callbacks.filter(({ url }) => !parsePartnerUrl(url, { allowPrivate: false }).ok);
  const names = refused.map(({ partnerName }) => printable(partnerName)).join(', ');
  return refused.length === 0
    ? undefined
    : warning(
        `called over http or at a private address, as in a trial, which production refuses: ${names}`,
        'Give each its public address: `partner set NAME --callback-url https://…`.',
      );
}

function isProduction({ nodeEnv }: Subject['settings']): boolean {
  return nodeEnv === 'production';
}

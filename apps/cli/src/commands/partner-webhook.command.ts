/** Commands on a partner's webhooks for sealed days and redemptions. Partners can do the same on their pages. */
import {
  type Database,
  EVENT_STATES,
  messageId,
  SubscriptionStore,
  type WebhookEventState,
  WebhookLog,
  WebhookMissingError,
  type WebhookSubscription,
} from '#libs/db';
import {
  AddWebhook,
  moment,
  PauseWebhook,
  RemoveWebhook,
  ReplayWebhook,
  resolvePartner,
  ResumeWebhook,
  RotateWebhook,
  SetWebhook,
  TestWebhook,
  webhookEventId,
  webhookId,
} from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { command, type CommandGroup } from '../command.js';
import { commandOf, PARTNER, type PartnerArgument } from '../operation-command.js';
import { argument, JSON_LINE, LIMIT, oneOf, option } from '../options.js';
import { fieldLines, table } from '../output/text.js';

const WEBHOOK = argument('<webhook>', 'its id, as `partner webhook list` shows it');
const EVENT_ID = 'the id of one event, as `webhook-id` or the log has it, with or without msg_';
const SECRET_NOTE = 'Hand it over by a safe way: it cannot be shown again.\n';

const ALLOW_PRIVATE = option(
  '--allow-private',
  'development: also http, and addresses that are not public',
);
function withPrivate<T extends object>(values: T, given: { readonly allowPrivate?: unknown }) {
  return { ...values, allowPrivate: given.allowPrivate === true };
}

const add = commandOf(AddWebhook, {
  hasJson: true,
  options: [ALLOW_PRIVATE],
  amend: withPrivate,
  print(call, made) {
    call.print(made, `webhook  ${made.id}\nsecret   ${made.secret}\n\n${SECRET_NOTE}`);
  },
});

const list = command({
  name: 'list',
  description: 'list the webhooks of a partner',
  arguments: [PARTNER],
  options: [JSON_LINE],
  settings: OperatorSettings,
  async action(call, { name }: PartnerArgument) {
    const all = await call.withDatabase(webhooksOf, name);
    const texts = all.map((one) =>
      fieldLines([
        ['webhook', one.id],
        ['url', one.url],
        ['topics', one.topics.join(', ')],
        ['stake set', one.stakeSet],
        ['waiting', String(one.waiting)],
        ['last delivery', moment(one.lastDeliveredAt) ?? 'none'],
        ['paused', pausedText(one)],
      ]),
    );
    call.print(all, texts.join('\n') || 'It has none: `partner webhook add` makes one.\n');
  },
});

const set = commandOf(SetWebhook, { options: [ALLOW_PRIVATE], amend: withPrivate });

const rotate = commandOf(RotateWebhook, {
  hasJson: true,
  print(call, made) {
    const until = moment(made.goodUntil.getTime()) ?? '';
    call.print(
      made,
      `secret  ${made.secret}\n\nThe old one signs too, until ${until}. ${SECRET_NOTE}`,
    );
  },
});

interface LogGiven extends PartnerArgument {
  readonly webhook: string;
  readonly event?: string;
  readonly state?: WebhookEventState;
}

const log = command({
  name: 'log',
  description: 'show the newest events of a webhook, or the attempts at one',
  arguments: [PARTNER, WEBHOOK],
  options: [
    option('--event <id>', `${EVENT_ID}: with all attempts`),
    option('--state <name>', `only ${EVENT_STATES.join(', ')}`, oneOf(EVENT_STATES)),
    ...[LIMIT, JSON_LINE],
  ],
  settings: OperatorSettings,
  async action(call, given: LogGiven) {
    const { event, state } = given;
    const { limit } = call;
    await call.withDatabase(async (database) => {
      const webhook = webhookId(given.webhook);
      const all = await webhooksOf(database, given.name);
      if (!all.some(({ id }) => id === webhook)) throw new WebhookMissingError();
      const events = WebhookLog.ofAll(database);
      if (event !== undefined) {
        const found = await events.event(webhook, webhookEventId(event));
        call.print(found ?? null, `${JSON.stringify(found ?? null, undefinedIfBig, 2)}\n`);
        return;
      }
      const found = await events.events({ subscription: webhook, limit, state });
      const rows = found.map((one) => [
        ...[messageId(one.id), one.type, one.orderKey, one.state, String(one.attempts)],
        one.lastError ?? String(one.lastStatus ?? ''),
      ]);
      const head = ['EVENT', 'TYPE', 'WALLET', 'STATE', 'ATTEMPTS', 'LAST ANSWER'];
      call.printList(found, table(head, rows), found.length);
    });
  },
});

export const webhookCommands: CommandGroup = {
  name: 'webhook',
  description: 'where a partner is told of sealed days and redemptions',
  commands: [
    ...[add, list, set, commandOf(TestWebhook), commandOf(PauseWebhook), commandOf(ResumeWebhook)],
    ...[rotate, commandOf(ReplayWebhook), log, commandOf(RemoveWebhook)],
  ],
};

function pausedText({ pausedAt, pausedBecause }: WebhookSubscription): string | undefined {
  if (pausedAt === null) return undefined;
  if (pausedBecause === 'gone') return 'its address answered 410 (gone)';
  return `by the ${pausedBecause ?? 'service'}`;
}

function undefinedIfBig(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? undefined : value;
}

/** All webhooks of the partner that a person named. @throws PartnerUnknownError, PartnerAmbiguousError */
async function webhooksOf(database: Database, name: string): Promise<WebhookSubscription[]> {
  const { partnerId } = await resolvePartner(database, name);
  return new SubscriptionStore(database).list(partnerId);
}

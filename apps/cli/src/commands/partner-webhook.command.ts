/** Commands on a partner's webhooks for sealed days and redemptions. Partners can do the same on their pages. */
import {
  EVENT_STATES,
  messageId,
  type WebhookEventState,
  WebhookLog,
  WebhookMissingError,
  type WebhookSubscription,
} from '#libs/db';
import { type WebhookTopic } from '#libs/domain';
import {
  addWebhook,
  moment,
  OptionError,
  pauseWebhook,
  removeWebhook,
  replayWebhook,
  rotateWebhook,
  setWebhook,
  testWebhook,
  webhookEventId,
  webhookId,
} from '#libs/operations';
import { OperatorSettings, PartnerSettings } from '../cli.env.js';
import { command, type CommandGroup, type CommandSpec } from '../command.js';
import { AS, JSON_LINE, LIMIT, oneOf, option, required, YES } from '../options.js';
import { fieldLines, table } from '../output/text.js';
import {
  ALLOW_PRIVATE,
  overlapHours,
  type TermOptions,
  TOPICS_OPTION,
  URL_OPTION,
  utcTime,
  WEBHOOK,
} from '../partner/webhook-options.js';
import { type Chosen, onWebhook, webhooksOf } from '../partner/chosen-webhook.js';
import { PARTNER, type PartnerArgument } from '../operation-command.js';

const EVENT_ID = 'the id of one event, as `webhook-id` or the log has it, with or without msg_';
const SECRET_NOTE = 'Hand it over by a safe way: it cannot be shown again.\n';

interface AddGiven {
  readonly url: string;
  readonly topics: readonly WebhookTopic[];
}

const add = command({
  name: 'add',
  description: 'tell a partner at an address, and print the secret that signs, once',
  arguments: [PARTNER],
  options: [required(...URL_OPTION), required(...TOPICS_OPTION), ALLOW_PRIVATE, JSON_LINE, AS],
  settings: PartnerSettings,
  async action(call, given: PartnerArgument & TermOptions & AddGiven) {
    const { url, topics, allowPrivate } = given;
    const wish = { url, topics, allowPrivate, mayAllowPrivate: true };
    const keyRing = call.keyRing();
    const made = await call.withPartner(given.name, (database, { partnerId: partner }) =>
      addWebhook(database, call.operator, { partner, ...wish }, keyRing),
    );
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

const set = command({
  name: 'set',
  description: 'change the address or the topics; what is absent stays',
  arguments: [PARTNER, WEBHOOK],
  options: [option(...URL_OPTION), option(...TOPICS_OPTION), ALLOW_PRIVATE, AS],
  settings: OperatorSettings,
  async action(call, given: Chosen & TermOptions) {
    const { url, topics, allowPrivate } = given;
    const change = { url, topics, allowPrivate, mayAllowPrivate: true };
    await onWebhook(call, given, (database, choice) =>
      setWebhook(database, call.operator, choice, change),
    );
    call.terminal.out('It is set.\n');
  },
});

function pauseCommand(
  spec: { readonly name: string; readonly description: string },
  because: 'operator' | undefined,
  done: string,
): CommandSpec {
  return command({
    ...spec,
    arguments: [PARTNER, WEBHOOK],
    options: [AS],
    settings: OperatorSettings,
    async action(call, given: Chosen) {
      await onWebhook(call, given, (database, choice) =>
        pauseWebhook(database, call.operator, choice, because),
      );
      call.terminal.out(done);
    },
  });
}

const pause = pauseCommand(
  { name: 'pause', description: 'send nothing for now; what comes about waits' },
  'operator',
  'It is paused: what comes about waits.\n',
);
const resume = pauseCommand(
  { name: 'resume', description: 'send again, what waits first' },
  undefined,
  'It goes on; what waits is sent at once.\n',
);

const rotate = command({
  name: 'rotate',
  description: 'make another secret, printed once; the old one signs beside it for a while',
  arguments: [PARTNER, WEBHOOK],
  options: [option('--overlap <hours>', 'for how long', overlapHours, 24), JSON_LINE, AS],
  settings: PartnerSettings,
  async action(call, given: Chosen & { readonly overlap: number }) {
    const keyRing = call.keyRing();
    const made = await onWebhook(call, given, (database, choice) => {
      const rotation = { ...choice, overlapHours: given.overlap };
      return rotateWebhook(database, call.operator, rotation, keyRing);
    });
    const until = moment(made.goodUntil.getTime()) ?? '';
    call.print(
      made,
      `secret  ${made.secret}\n\nThe old one signs too, until ${until}. ${SECRET_NOTE}`,
    );
  },
});

const replay = command({
  name: 'replay',
  description:
    'send one event again, or those since a time that were given up; what waits is tried at once',
  arguments: [PARTNER, WEBHOOK],
  options: [
    option('--event <id>', EVENT_ID),
    option(
      '--since <time>',
      'all events that came about then or later and were given up; UTC, 2026-11-21 or 2026-11-21T10:00:00Z',
      utcTime,
    ),
    option('--delivered', 'with --since: also those that were delivered'),
    AS,
  ],
  check({ event, since }: { readonly event?: string; readonly since?: Date }) {
    if ((event === undefined) === (since === undefined)) {
      throw new OptionError('Give either --event or --since.');
    }
  },
  settings: OperatorSettings,
  async action(
    call,
    given: Chosen & { readonly event?: string; since?: Date; delivered?: boolean },
  ) {
    const { event, since = new Date(0), delivered = false } = given;
    const wish = event === undefined ? { since, delivered } : { event: webhookEventId(event) };
    const count = await onWebhook(call, given, (database, choice) =>
      replayWebhook(database, call.operator, choice, wish),
    );
    call.terminal.out(`Events that are sent again: ${count}. What waits is tried at once.\n`);
  },
});

const test = command({
  name: 'test',
  description: 'send an event that tells nothing, to try the address now',
  arguments: [PARTNER, WEBHOOK],
  options: [AS],
  settings: OperatorSettings,
  async action(call, given: Chosen) {
    const id = await onWebhook(call, given, (database, choice) =>
      testWebhook(database, call.operator, choice, call.clock),
    );
    call.terminal.out(`${messageId(id)} is on its way; the log says what becomes of it.\n`);
  },
});

const remove = command({
  name: 'remove',
  description: 'end a webhook: what waits is not sent, and its log is removed',
  arguments: [PARTNER, WEBHOOK],
  options: [YES, AS],
  settings: OperatorSettings,
  async action(call, given: Chosen) {
    await onWebhook(call, given, async (database, choice) => {
      await call.confirm(
        'What waits is not sent any more, and the log of this webhook is removed.',
      );
      await removeWebhook(database, call.operator, choice);
    });
    call.terminal.out('It is removed.\n');
  },
});

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
  async action(call, given: Chosen & { readonly event?: string; state?: WebhookEventState }) {
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
  commands: [add, list, set, test, pause, resume, rotate, replay, log, remove],
};

function pausedText({ pausedAt, pausedBecause }: WebhookSubscription): string | undefined {
  if (pausedAt === null) return undefined;
  if (pausedBecause === 'gone') return 'its address answered 410 (gone)';
  return `by the ${pausedBecause ?? 'service'}`;
}

function undefinedIfBig(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? undefined : value;
}

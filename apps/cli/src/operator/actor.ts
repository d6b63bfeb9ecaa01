import { userInfo } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';

const NAME = /^[A-Za-z0-9._@+-]{1,64}$/;

/** `--as`: the name that the audit and the timeline keep. */
export function actorOption(): Option {
  return new Option(
    '--as <name>',
    'your name for the audit (default: the user of the operating system)',
  ).argParser((text: string) => {
    if (!NAME.test(text)) {
      throw new InvalidArgumentError('Expected 1 to 64 letters, digits and . _ @ + -');
    }
    return text;
  });
}

/** @returns `operator:NAME` */
export function actorOf({ as }: { readonly as?: string }): string {
  return `operator:${as ?? systemUser()}`;
}

function systemUser(): string {
  const { uid } = process.getuid === undefined ? { uid: 0 } : { uid: process.getuid() };
  try {
    const { username } = userInfo();
    return NAME.test(username) ? username : `uid-${uid}`;
  } catch (error) {
    // A container may run under a number that no user has.
    if (!(error instanceof Error)) throw error;
    return `uid-${uid}`;
  }
}

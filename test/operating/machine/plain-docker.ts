/** A stand-in for `docker …` without compose: ./lowmark's calls for containers and images. */
import { type Answer, type Machine } from './machine.js';

export function plainDocker(machine: Machine, words: readonly string[]): Answer {
  const { containers } = machine;
  const [verb = '', ...rest] = words;
  const last = rest.at(-1) ?? '';
  switch (verb) {
    case 'tag':
      containers.requireImage(last);
      return machine.checkOnly('docker tag');
    case 'inspect':
      return inspected(machine, rest[1] ?? '', last);
    case 'image':
      // The image differs from the one that the containers run.
      return { out: `sha256:${last}\n` };
    case 'ps':
      // There are no containers of other clones.
      return {};
    case 'volume':
      // There is no volume of an earlier version or of a trial.
      return { code: 1 };
    case 'run':
      // Checks a file of the image in this working tree, from which the image would be built.
      return { run: rest.slice(rest.indexOf('test')) };
    case 'exec':
      return {};
    case 'stop':
      return {};
    case 'rm':
      containers.remove(last);
      return {};
    default:
      throw new Error(`No stand-in knows: docker ${words.join(' ')}`);
  }
}

function inspected({ containers }: Machine, format: string, container: string): Answer {
  switch (format) {
    case '{{.RestartCount}}':
      return { out: '0\n' };
    case '{{.Image}}':
      return { out: 'sha256:running\n' };
    default:
      return { out: `${containers.addressOf(container)}\n` };
  }
}

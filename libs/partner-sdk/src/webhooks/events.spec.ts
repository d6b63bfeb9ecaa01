import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EVENT_FIELDS, type Kind } from './events.js';

interface Schema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

const PAGE = new URL('../../../../docs/wire/webhooks.md', import.meta.url);

/** The fields of each event that the page names in a heading. A name such as `.failed` has the group of the first. */
function describedEvents(): [string, Readonly<Record<string, Kind>>][] {
  const sections = readFileSync(PAGE, 'utf8').split('\n### ').slice(1);
  return sections.flatMap((section) => {
    const names = [...(section.split('\n')[0] ?? '').matchAll(/`([^`]+)`/g)].map(
      ([, name = '']) => name,
    );
    const group = names[0]?.split('.')[0] ?? '';
    const code = /```json schema\n([^]*?)\n```/.exec(section)?.[1];
    const fields = code === undefined ? {} : requiredFields(JSON.parse(code) as Schema);
    return names.map((name): [string, Readonly<Record<string, Kind>>] => [
      name.startsWith('.') ? group + name : name,
      fields,
    ]);
  });
}

function requiredFields({ required, properties }: Schema): Record<string, Kind> {
  return Object.fromEntries(required.map((name) => [name, kindOf(properties[name]?.type)]));
}

/** Only fields whose values are listed have no type; they are texts. */
function kindOf(type: string | readonly string[] = 'string'): Kind {
  if (type === 'string') return 'text';
  if (type === 'integer') return 'number';
  return type === 'array' ? 'list' : 'text or null';
}

describe('docs/wire/webhooks.md', () => {
  it('describes each event that the SDK knows, with its fields', () => {
    expect(Object.fromEntries(describedEvents())).toEqual(EVENT_FIELDS);
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  changesOf,
  faultOf,
  fieldsOf,
  type FormField,
  initialValues,
  isReady,
} from './operation-form.js';

const SCHEMA = {
  properties: {
    request: { type: 'string' },
    name: { type: 'string', title: 'Name', maxLength: 4 },
    rate: { type: 'integer', title: 'Rate', minimum: 1 },
    callback: {
      type: 'object',
      properties: {
        url: { type: 'string', title: 'URL' },
        confirm: { type: 'boolean', title: 'Confirms' },
        words: { type: 'array', title: 'Words', items: { enum: ['a', 'b'] } },
      },
    },
  },
  required: ['name', 'request'],
};
const fields = fieldsOf(SCHEMA);
const field = (name: string) => fields.find((one) => one.name === name) as FormField;

describe('the form of an operation', () => {
  it('has the fields with a label, those of groups too', () => {
    expect(fields.map(({ name, group, isRequired }) => [name, group, isRequired])).toEqual([
      ['name', undefined, true],
      ['rate', undefined, false],
      ['url', 'callback', false],
      ['confirm', 'callback', false],
      ['words', 'callback', false],
    ]);
  });

  it('sends what was changed, in its group; an emptied field stays as it was', () => {
    const before = initialValues(fields, { name: 'Acme', rate: 20, url: 'u', confirm: true });
    expect(before).toEqual({ name: 'Acme', rate: '20', url: 'u', confirm: true, words: [] });
    const after = { ...before, name: ' ', rate: '7', confirm: false, words: ['b'] };
    expect(changesOf(fields, before, after)).toEqual({
      rate: 7,
      callback: { confirm: false, words: ['b'] },
    });
    expect(changesOf(fields, before, before)).toEqual({});
  });

  it('sends a number without the commas between its thousands', () => {
    const schema = { type: 'string', pattern: '^(?:none|\\d{1,30}(?:\\.\\d{1,30})?)$' };
    const budget = { name: 'budget', label: 'Budget', schema, isRequired: false, group: undefined };
    const sent = changesOf([budget], { budget: '' }, { budget: '300,000' });
    expect(sent).toEqual({ budget: '300000' });
  });

  it('removes a limit that is emptied, but no other amount', () => {
    const limit = { type: 'string', pattern: '^(?:none|[1-9]\\d{0,15})$' };
    const amount = { type: 'string', pattern: '^\\d{1,30}$' };
    const of = { isRequired: false, group: 'callback' };
    const both = [
      { name: 'minPoints', label: 'Fewest points', schema: limit, ...of },
      { name: 'usdPerPoint', label: 'USD per point', schema: amount, ...of },
    ];
    const empty = { minPoints: '', usdPerPoint: '' };
    expect(changesOf(both, { minPoints: '10', usdPerPoint: '1' }, empty)).toEqual({
      callback: { minPoints: 'none' },
    });
    expect(changesOf(both, {}, empty)).toEqual({});
    expect(changesOf(both, empty, empty)).toEqual({});
  });

  it('sends a time as a moment in UTC', () => {
    const schema = { type: 'string', format: 'date-time' };
    const since = { name: 'since', label: 'Since', schema, isRequired: true, group: undefined };
    const local = '2026-03-01T10:00';
    const sent = { since: new Date(local).toISOString() };
    expect(changesOf([since], {}, { since: local })).toEqual(sent);
    expect(changesOf([since], {}, { since: '' })).toEqual({});
  });

  it('is ready once what is required is there, and nothing is refused for certain', () => {
    expect(faultOf(field('rate'), '0')).toBe('A whole number, at least 1.');
    expect(faultOf(field('rate'), '1e3')).not.toBeNull();
    expect(faultOf(field('name'), '🎲'.repeat(4))).toBeNull();
    expect(faultOf(field('name'), 'Acmes')).toBe('At most 4 characters; these are 5.');
    expect(isReady(fields, { name: 'Acme', rate: '' })).toBe(true);
    expect(isReady(fields, { name: '  ' })).toBe(false);
    expect(isReady(fields, { name: 'Acme', rate: 'x' })).toBe(false);
    const words = [{ ...field('words'), isRequired: true }];
    expect(isReady(words, { words: [] })).toBe(false);
    expect(isReady(words, { words: ['a'] })).toBe(true);
  });
});

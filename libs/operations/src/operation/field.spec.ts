import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import {
  accepts,
  expectedOf,
  Field,
  fieldOf,
  fieldsOf,
  optionAttribute,
  schemaOf,
} from './field.js';
import { auditedFields } from './operation.js';

const DECIMAL = { type: 'decimal', help: 'tokens', option: '--daily-budget <tokens>' } as const;

class Inner {
  @Field({ type: 'secret', help: 'signs', option: '--the-secret <secret>' })
  readonly secret?: string;

  @Field({ ...DECIMAL, orNone: true }) readonly budget?: string;
}

class Parent {
  @Field({ type: 'uuid', help: 'its id', inPath: true }) readonly id!: string;
  @Field({ type: 'whole', help: 'requests', option: '--rate <n>', min: 1, max: 9 })
  readonly rate?: number;
}

class Child extends Parent {
  @Field({ type: 'whole', help: 'requests', option: '--rate <n>', min: 1, max: 9, default: 3 })
  override readonly rate = 3;

  @Field({ type: 'group', help: 'more', of: () => Inner }) readonly inner?: Inner;
  @Field({ type: 'points', help: 'points', orNone: true }) readonly points?: string;
  @Field({ ...DECIMAL, isAboveZero: true }) readonly price?: string;
}

describe('a field', () => {
  it('is inherited, and replaced by one of the same name', () => {
    expect([...fieldsOf(Parent).keys()]).toEqual(['id', 'rate']);
    expect([...fieldsOf(Child).keys()]).toEqual(['id', 'rate', 'inner', 'points', 'price']);
    expect(schemaOf(fieldOf(Child, 'rate'))).toEqual({
      ...{ type: 'integer', minimum: 1, maximum: 9, default: 3 },
    });
    expect(schemaOf(fieldOf(Parent, 'rate'))).not.toHaveProperty('default');
  });

  it.each<[keyof Child, unknown, boolean]>([
    ['rate', 9, true],
    ['rate', 10, false],
    ['rate', '9', false],
    ['points', undefined, true],
    ['points', 'none', true],
    ['points', '9007199254740991', true],
    ['points', '9007199254740992', false],
    ['points', null, false],
    ['price', '0.01', true],
    ['price', '0.00', false],
    ['price', 'none', false],
    ['inner', plainToInstance(Inner, { budget: 'none' }), true],
    ['inner', plainToInstance(Inner, { budget: '1e5' }), false],
    ['inner', [], false],
  ])('%s takes %j: %s', (name, value, isTaken) => {
    expect(accepts(Child, name, value)).toBe(isTaken);
  });

  it('says what is expected, and how its option is named', () => {
    expect(expectedOf(fieldOf(Child, 'points'))).toBe(
      'a whole number of points, at least 1, or none',
    );
    expect(optionAttribute(fieldOf(Inner, 'secret'))).toBe('theSecret');
  });

  it('is audited under the name of its option, a secret only as given', () => {
    const inner = { secret: 'hunter2', budget: '007.50' };
    const given = Object.assign(new Child(), { id: 'x', inner, points: '7' });
    expect(auditedFields(given)).toEqual({ rate: 3, theSecret: 'given', dailyBudget: '7.50' });
  });
});

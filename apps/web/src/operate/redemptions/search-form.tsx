import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { deskTexts } from '../desk-texts';
import { texts } from '../texts';
import { ADDRESS } from '../wallet/wallets-page';
import { type RedemptionFilter } from './search';

const words = deskTexts.redemptions.filter;
const STATES = Object.entries(texts.states).map(([value, label]) => ({ value, label }));
const TEXTS = ['id', 'wallet', 'partner'] as const;
const TIMES = ['from', 'until'] as const;
const EMPTY = { id: '', wallet: '', partner: '', state: '', from: '', until: '' };

interface SearchFormProps {
  readonly filter: RedemptionFilter;
  readonly onFind: (filter: RedemptionFilter) => void;
}

/** Search form; an empty field does not narrow the search. */
export function SearchForm({ filter, onFind }: SearchFormProps) {
  const form = useForm({
    initialValues: typedOf(filter),
    validate: {
      id: (text) => (/^[0-9a-f-]{0,36}$/i.test(text.trim()) ? null : words.notId),
      wallet: (text) => (text.trim() === '' || ADDRESS.test(text.trim()) ? null : words.notWallet),
    },
  });
  return (
    <form onSubmit={form.onSubmit((typed) => onFind(filterOf(typed)))}>
      <Group align="end" mb="sm">
        {TEXTS.map((name) => (
          <TextInput key={name} label={words[name]} {...form.getInputProps(name)} />
        ))}
        <NativeSelect
          label={words.state}
          data={[{ value: '', label: words.anyState }, ...STATES]}
          {...form.getInputProps('state')}
        />
        {TIMES.map((name) => (
          <TextInput
            key={name}
            type="datetime-local"
            label={words[name]}
            {...form.getInputProps(name)}
          />
        ))}
        <Button type="submit">{words.find}</Button>
        <Button
          variant="default"
          onClick={() => {
            form.setValues(EMPTY);
            form.clearErrors();
            onFind({});
          }}
        >
          {words.clear}
        </Button>
      </Group>
    </form>
  );
}

function typedOf({ from, until, ...texts }: RedemptionFilter): typeof EMPTY {
  return {
    ...EMPTY,
    ...texts,
    ...(from && { from: localOf(from) }),
    ...(until && { until: localOf(until) }),
  };
}

/** The value of a `datetime-local` input. */
function localOf(moment: string): string {
  return moment.replace(/Z$/, '');
}

function filterOf(typed: typeof EMPTY): RedemptionFilter {
  const given = Object.entries(typed).flatMap(([name, text]) =>
    text.trim() === '' ? [] : [[name, text.trim()] as const],
  );
  const { from, until, ...filter } = Object.fromEntries(given) as RedemptionFilter;
  // A `datetime-local` input has no time zone; its value means UTC.
  return { ...filter, ...(from && { from: `${from}Z` }), ...(until && { until: `${until}Z` }) };
}

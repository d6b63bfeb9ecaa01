import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { type paths } from '../../api/console.generated';
import { useKept } from '../../shared/use-kept';
import { deskTexts } from '../desk-texts';

export type RedemptionFilter = Omit<
  NonNullable<paths['/api/operate/redemptions']['get']['parameters']['query']>,
  'after'
>;

const words = deskTexts.redemptions.filter;
const STATES = [
  ...['attention', 'created', 'deducting', 'deducted', 'authorised'],
  ...['reverting', 'claimed', 'reverted', 'failed'],
] as const;
const TEXTS = ['id', 'wallet', 'partner'] as const;
const TIMES = ['from', 'until'] as const;
const EMPTY = { id: '', wallet: '', partner: '', state: '', from: '', until: '' };

/** What is left empty does not narrow it. */
export function SearchForm({ onFind }: { readonly onFind: (filter: RedemptionFilter) => void }) {
  const [typed, setTyped] = useKept('search', EMPTY);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onFind(filterOf(typed));
      }}
    >
      <Group align="end" mb="sm">
        {TEXTS.map((name) => (
          <TextInput
            key={name}
            label={words[name]}
            value={typed[name]}
            onChange={({ currentTarget: { value } }) => {
              setTyped({ ...typed, [name]: value });
            }}
          />
        ))}
        <NativeSelect
          label={words.state}
          data={[{ value: '', label: words.anyState }, ...STATES]}
          value={typed.state}
          onChange={({ currentTarget: { value } }) => {
            setTyped({ ...typed, state: value });
          }}
        />
        {TIMES.map((name) => (
          <TextInput
            key={name}
            type="datetime-local"
            label={words[name]}
            value={typed[name]}
            onChange={({ currentTarget: { value } }) => {
              setTyped({ ...typed, [name]: value });
            }}
          />
        ))}
        <Button type="submit">{words.find}</Button>
        <Button
          variant="default"
          onClick={() => {
            setTyped(EMPTY);
            onFind({});
          }}
        >
          {words.clear}
        </Button>
      </Group>
    </form>
  );
}

function filterOf(typed: typeof EMPTY): RedemptionFilter {
  const given = Object.entries(typed).flatMap(([name, text]) =>
    text.trim() === '' ? [] : [[name, text.trim()] as const],
  );
  const { from, until, ...filter } = Object.fromEntries(given) as RedemptionFilter;
  // The field has no zone: what is written in it is UTC.
  return { ...filter, ...(from && { from: `${from}Z` }), ...(until && { until: `${until}Z` }) };
}

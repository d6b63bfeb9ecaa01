import { Checkbox, PasswordInput, Stack, TextInput } from '@mantine/core';
import { ApiProblem } from '../api/api-problem';
import { faultOf, type FormField, type FormValue, type FormValues } from './operation-form';

/** Whether a refusal names one of the fields, which then shows it. */
export function isOfField(fields: readonly FormField[], error: unknown): boolean {
  const field = error instanceof ApiProblem ? error.field : undefined;
  return fields.some(({ name }) => name === field);
}

interface OperationFieldsProps {
  readonly fields: readonly FormField[];
  readonly values: FormValues;
  readonly onChange: (values: FormValues) => void;
  /** The refusal of the request, which may name a field. */
  readonly error?: unknown;
  /** Shown in empty fields, by name. */
  readonly placeholders?: Readonly<Record<string, string>>;
}

/** The fields of an operation. */
export function OperationFields({
  fields,
  values,
  onChange,
  error,
  placeholders = {},
}: OperationFieldsProps) {
  return fields.map((field, index) => {
    const { name } = field;
    const value = values[name] ?? '';
    return (
      <OperationField
        key={name}
        field={field}
        value={value}
        error={faultOf(field, value) ?? refusalOf(field, error)}
        placeholder={placeholders[name] ?? ''}
        isFirst={index === 0}
        onChange={(changed) => onChange({ ...values, [name]: changed })}
      />
    );
  });
}

function refusalOf({ name }: FormField, error: unknown): string | null {
  return error instanceof ApiProblem && error.field === name ? error.message : null;
}

interface OperationFieldProps {
  readonly field: FormField;
  readonly value: FormValue;
  readonly error: string | null;
  readonly placeholder: string;
  readonly isFirst: boolean;
  readonly onChange: (value: FormValue) => void;
}

function OperationField({
  field,
  value,
  error,
  placeholder,
  isFirst,
  onChange,
}: OperationFieldProps) {
  const { label, schema, isRequired } = field;
  const { enum: words = [], 'x-enumDescriptions': meanings } = schema.items ?? {};
  const description = schema.description === `${label}.` ? undefined : schema.description;
  if (typeof value === 'boolean') {
    return (
      <Checkbox
        label={label}
        checked={value}
        onChange={({ currentTarget: { checked } }) => onChange(checked)}
      />
    );
  }
  if (typeof value !== 'string') {
    return (
      <Checkbox.Group
        label={label}
        description={description}
        error={error}
        required={isRequired}
        value={[...value]}
        onChange={(chosen) => onChange(words.filter((word) => chosen.includes(word)))}
      >
        <Stack gap="xs" mt="xs">
          {words.map((word) => (
            <Checkbox key={word} value={word} label={word} description={meanings?.[word]} />
          ))}
        </Stack>
      </Checkbox.Group>
    );
  }
  const Input = schema.writeOnly === true ? PasswordInput : TextInput;
  return (
    <Input
      {...(schema.format === 'date-time' && { type: 'datetime-local' })}
      label={label}
      description={description}
      error={error}
      placeholder={placeholder}
      required={isRequired}
      autoComplete={schema.writeOnly === true ? 'new-password' : 'off'}
      {...(isFirst && { 'data-autofocus': true })}
      value={value}
      onChange={({ currentTarget: { value: text } }) => onChange(text)}
    />
  );
}

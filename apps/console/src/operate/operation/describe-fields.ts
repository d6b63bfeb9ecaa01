import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { type FieldsClass, fieldsOf, type FieldSpec, schemaOf } from '#libs/operations';

const described = new WeakSet<FieldsClass>();

/** Declares the fields of an operation, except those of its path, for its OpenAPI schema. */
export function describeFields(type: FieldsClass): void {
  if (described.has(type)) return;
  described.add(type);
  for (const [name, spec] of fieldsOf(type)) {
    if (spec.inPath !== true) ApiProperty(propertyOf(spec))(type.prototype as object, name);
  }
}

function propertyOf(spec: FieldSpec): ApiPropertyOptions {
  const { label, help, required = false } = spec;
  const common = {
    ...schemaOf(spec),
    ...(label !== undefined && { title: label }),
    required,
  };
  if (spec.type !== 'group' && spec.type !== 'list') {
    return { ...common, description: sentence(help) };
  }
  const of = spec.of();
  describeFields(of);
  return { ...common, type: spec.type === 'list' ? [of] : of };
}

/** The help of a field as a sentence. */
export function sentence(help: string): string {
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;
}

/**
 * Each component of Mantine that is used brings its own styles, with the chunk that it is in. They are in a layer, so that ours prevail
 * in whatever order the files are loaded.
 */
export const mantineStyles = {
  name: 'mantine-styles',
  transform(code, id) {
    const [, name] = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/.exec(id) ?? [];
    if (name === undefined) return undefined;
    return { code: `import '@mantine/core/styles/${name}.layer.css';\n${code}`, map: null };
  },
};

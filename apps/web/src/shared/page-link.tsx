import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { type ComponentProps } from 'react';

type LinkProps = AnchorProps & Omit<ComponentProps<'a'>, keyof AnchorProps>;

/** A link to one of our pages, which opens without reloading the document. */
export const PageLink = createLink((props: LinkProps) => <Anchor {...props} />);

import { Anchor, type AnchorProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { type ComponentProps } from 'react';

type LinkProps = AnchorProps & Omit<ComponentProps<'a'>, keyof AnchorProps>;

/** A link to a page of ours, which is shown without loading the document anew. */
export const PageLink = createLink((props: LinkProps) => <Anchor {...props} />);

import { NavLink, Stack, Text, TextInput } from '@mantine/core';
import { Link, useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { type MouseEvent, useEffect, useMemo, useState } from 'react';
import { documents, type PartnerDocument } from 'virtual:partner-docs';
import { PageLink } from '../../shared/page-link';
import { Problem } from '../../shared/loaded';
import classes from '../partner-area.module.css';
import { texts } from '../texts';
import { useStanding } from '../queries';
import { searchOf } from './search-documents';

const words = texts.docs;
const searchDocuments = searchOf(documents);

/** The partners' documentation, with the reader's own key and URL in its examples. */
export function DocsPage() {
  const { page = 'README' } = useParams({ strict: false });
  const [search, setSearch] = useState('');
  const found = documents.find(({ slug }) => slug === page);
  return (
    <div className={classes['docs']}>
      <div>
        <TextInput
          type="search"
          label={words.search}
          mb="md"
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        {search.trim() === '' ? (
          <DocumentList current={page} />
        ) : (
          <Results search={search} onChosen={() => setSearch('')} />
        )}
      </div>
      <div className={classes['document-place']}>
        {found === undefined ? <Problem problem={words.unknown} /> : <Shown document={found} />}
      </div>
    </div>
  );
}

function DocumentList({ current }: { readonly current: string }) {
  return (
    <nav aria-label={words.pages}>
      {documents
        .filter(({ slug }) => !slug.includes('.'))
        .map(({ slug, title }) => (
          <NavLink
            key={slug}
            active={slug === current}
            label={title}
            py={2}
            renderRoot={(props) => (
              <Link to="/partner/docs/$page" params={{ page: slug }} {...props} />
            )}
          />
        ))}
    </nav>
  );
}

interface ResultsProps {
  readonly search: string;
  readonly onChosen: () => void;
}

function Results({ search, onChosen }: ResultsProps) {
  const { count, places } = useMemo(() => searchDocuments(search), [search]);
  return (
    <Stack gap={4} mb="md">
      <Text size="sm" role="status">
        {words.found(count, places.length)}
      </Text>
      {places.map(({ id, slug, anchor, document, title, excerpt }) => (
        <div key={id}>
          <Text size="sm">
            <PageLink
              to="/partner/docs/$page"
              params={{ page: slug }}
              hash={anchor}
              onClick={onChosen}
            >
              {title}
            </PageLink>
            {document !== title && ` · ${document}`}
          </Text>
          <Text size="xs" c="dimmed" className="text-of-others">
            {excerpt}
          </Text>
        </div>
      ))}
    </Stack>
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ESCAPES[character] ?? '');
}

/** Replaces the placeholders of examples by the reader's key and our URL. */
function personal(html: string, key: string | undefined, apiUrl: string | undefined): string {
  const withKey = key === undefined ? html : html.replaceAll('svck_…', escape(`${key}…`));
  return apiUrl === undefined
    ? withKey
    : withKey.replace(
        /http:\/\/127\.0\.0\.1:3000|https:\/\/api\.example(?:\.com)?|\$STAKING_URL|(?<=STAKING_URL=)https:\/\/…/g,
        () => escape(apiUrl),
      );
}

function Shown({ document: { slug, title, html } }: { readonly document: PartnerDocument }) {
  const { data } = useStanding();
  const navigate = useNavigate();
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const key = data?.credentials.find(({ isActive }) => isActive)?.keyPrefix;
  const content = useMemo(() => personal(html, key, data?.apiUrl), [html, key, data?.apiUrl]);
  useEffect(() => {
    if (hash === '') window.scrollTo(0, 0);
    else document.getElementById(hash)?.scrollIntoView();
  }, [slug, hash, content]);
  /** Opens links between documents without reloading the page. */
  const followed = (event: MouseEvent<HTMLElement>): void => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const href = link?.getAttribute('href') ?? '';
    const isOther = event.ctrlKey || event.metaKey || event.shiftKey;
    if (!href.startsWith('/partner/docs/') || isOther) return;
    event.preventDefault();
    void navigate({ href });
  };
  return (
    <>
      <title>{`${title} · Lowmark`}</title>
      <article
        className={classes['document']}
        onClick={followed}
        dangerouslySetInnerHTML={{ __html: content }}
      />
    </>
  );
}

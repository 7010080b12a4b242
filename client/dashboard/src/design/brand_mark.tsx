import icon from './icon.svg?raw';

/** The icon of the tab, inside the page: as an image it would be fetched a second time. */
export function BrandMark() {
  return <span class="brand-mark" aria-hidden="true" dangerouslySetInnerHTML={{ __html: icon }} />;
}

import type { Session } from '../../api/messages';
import { labelBadges } from '../../design/badge';
import { Card } from '../../design/card';
import { Facts } from '../../design/facts';
import { At } from '../../design/time';
import { lowerName } from '../../format/names';

export function SessionAbout({ session }: { session: Session }) {
  const provenance = session.provenance;
  const sampler = provenance?.sampler;
  const normalizer = provenance?.normalizer;
  return (
    <Card title="About it">
      <Facts
        rows={[
          ['Name', <code>{session.name}</code>],
          ['Created', <At time={session.createTime} />],
          ['Group', session.group],
          [
            'Batches',
            sampler === undefined || sampler === 'SAMPLER_UNSPECIFIED'
              ? 'not said'
              : `${lowerName(sampler)}, as the newest attempt says`,
          ],
          [
            'Clip norm',
            provenance?.clipNorm === undefined || provenance.clipNorm === 0
              ? 'not said'
              : String(provenance.clipNorm),
          ],
          [
            'Library',
            (provenance?.library ?? '') === ''
              ? 'not said'
              : `${provenance?.library} ${provenance?.libraryVersion ?? ''}`,
          ],
          [
            'Divides by',
            normalizer === undefined || normalizer === 'NORMALIZER_UNSPECIFIED'
              ? 'not said'
              : `${lowerName(normalizer)}, as the newest attempt says`,
          ],
          ['Cap of its own', session.noOwnCap === true ? 'none: only its budgets limit it' : ''],
          ['Labels', labelBadges(session.labels)],
        ]}
      />
    </Card>
  );
}

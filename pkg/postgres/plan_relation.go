package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const relationSQL = `SELECT n.nspname || '.' || c.relname AS name, c.relkind::text AS kind, c.relreplident::text AS identity,
       CASE WHEN c.relkind IN ('r', 'm') THEN pg_relation_size(c.oid) ELSE 0 END AS bytes, c.oid AS oid,
       ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns,
       ARRAY(SELECT format_type(a.atttypid, NULL) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS types,
       ARRAY(SELECT a.attnotnull FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS required,
       ARRAY(SELECT n2.nspname || '.' || c2.relname FROM pg_partition_ancestors(c.oid) WITH ORDINALITY p (id, nr)
              JOIN pg_class c2 ON c2.oid = p.id JOIN pg_namespace n2 ON n2.oid = c2.relnamespace WHERE p.id <> c.oid ORDER BY p.nr) AS ancestors,
       ARRAY(SELECT n2.nspname || '.' || c2.relname FROM pg_partition_tree(c.oid) p
              JOIN pg_class c2 ON c2.oid = p.relid JOIN pg_namespace n2 ON n2.oid = c2.relnamespace WHERE p.isleaf AND p.relid <> c.oid ORDER BY 1) AS leaves,
       ARRAY(SELECT DISTINCT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
              WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL ORDER BY 1) AS leading
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname || '.' || c.relname = ANY($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`

type relationRow struct {
	Name, Kind, Identity string
	Bytes                int64
	OID                  uint32
	Columns, Types       []string
	Required             []bool
	Ancestors, Leaves    []string
	Leading              []string
}

// relations reads the named relations and, for partitioned ones, their leaves.
func (in *inspector) relations(names []string) (map[string]*Relation, error) {
	found := map[string]*Relation{}
	for len(names) > 0 {
		rows, err := in.conn.Query(in.ctx, relationSQL, names)
		if err != nil {
			return nil, fmt.Errorf("reading tables: %w", err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[relationRow])
		if err != nil {
			return nil, fmt.Errorf("reading tables: %w", err)
		}
		names = nil
		for _, row := range list {
			r, err := in.relation(row)
			if err != nil {
				return nil, fmt.Errorf("reading table %s: %w", row.Name, err)
			}
			found[r.Name] = r
			names = append(names, missing(found, r.Leaves, r.Ancestors)...)
		}
	}
	return found, nil
}

func missing(found map[string]*Relation, lists ...[]string) []string {
	var out []string
	for _, list := range lists {
		for _, name := range list {
			if found[name] == nil {
				out = append(out, name)
			}
		}
	}
	return out
}

func (in *inspector) relation(row relationRow) (*Relation, error) {
	r := &Relation{Name: row.Name, Kind: row.Kind, Bytes: row.Bytes, Identity: row.Identity, Ancestors: row.Ancestors, Leaves: row.Leaves, Leading: row.Leading}
	for i, name := range row.Columns {
		r.Columns = append(r.Columns, TableColumn{Name: name, Type: row.Types[i], NotNull: row.Required[i]})
	}
	if err := in.identity(r, row.OID); err != nil {
		return nil, err
	}
	if r.Kind == "v" {
		if err := in.viewFunctions(r, row.OID); err != nil {
			return nil, err
		}
	}
	return r, in.publishedAs(r)
}

// viewFunctions finds what a view calls by its recorded dependencies.
func (in *inspector) viewFunctions(r *Relation, oid uint32) error {
	rows, err := in.conn.Query(in.ctx, `SELECT DISTINCT n.nspname || '.' || p.proname
  FROM pg_rewrite w JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_proc'::regclass
  JOIN pg_proc p ON p.oid = d.refobjid JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
 WHERE w.ev_class = $1 AND p.provolatile <> 'i' AND l.lanname NOT IN ('internal', 'c')`, oid)
	if err != nil {
		return err
	}
	r.Functions, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

type uniqueRow struct {
	Name              string
	Primary, Identity bool
	Columns           []string
}

func (in *inspector) identity(r *Relation, oid uint32) error {
	rows, err := in.conn.Query(in.ctx, `SELECT c.relname::text, i.indisprimary, i.indisreplident,
       ARRAY(SELECT a.attname::text FROM unnest(i.indkey[0:i.indnkeyatts - 1]) WITH ORDINALITY k (attnum, nr)
              JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum ORDER BY k.nr)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = $1 AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL ORDER BY 1`, oid)
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[uniqueRow])
	if err != nil {
		return err
	}
	for _, u := range list {
		r.Unique = append(r.Unique, UniqueIndex{Name: u.Name, Columns: u.Columns, Primary: u.Primary})
		if r.Identity == "d" && u.Primary || r.Identity == "i" && u.Identity {
			r.Identities = u.Columns
		}
	}
	if r.Identity == "f" {
		for _, c := range r.Columns {
			r.Identities = append(r.Identities, c.Name)
		}
	}
	return nil
}

// published reads the publication, nil where there is none.
func (in *inspector) published() (*Publication, error) {
	p := Publication{Name: in.publication}
	err := in.conn.QueryRow(in.ctx, `SELECT array_remove(ARRAY[CASE WHEN pubinsert THEN 'insert' END, CASE WHEN pubupdate THEN 'update' END,
       CASE WHEN pubdelete THEN 'delete' END, CASE WHEN pubtruncate THEN 'truncate' END], NULL), pubviaroot,
       (SELECT count(*) FROM pg_publication_tables t WHERE t.pubname = p.pubname)
  FROM pg_publication p WHERE pubname = $1`, in.publication).Scan(&p.Actions, &p.ViaRoot, &p.Tables)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil //nolint:nilnil // its absence is a fact, not an error
	}
	if err != nil {
		return nil, fmt.Errorf("reading publication %s: %w", in.publication, err)
	}
	return &p, nil
}

// publishedAs reads what of the table is published. Column lists and row
// filters came with PostgreSQL 15: the row is read as JSON, so that an older
// server merely has none.
func (in *inspector) publishedAs(r *Relation) error {
	var columns []string
	var filter *string
	err := in.conn.QueryRow(in.ctx, `SELECT ARRAY(SELECT jsonb_array_elements_text(j -> 'attnames')), j ->> 'rowfilter'
  FROM pg_publication_tables t, to_jsonb(t) j WHERE pubname = $1 AND schemaname || '.' || tablename = $2`, in.publication, r.Name).Scan(&columns, &filter)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	r.Published = true
	if len(columns) > 0 && len(columns) < len(r.Columns) {
		r.PublishedAs = columns
	}
	if filter != nil {
		r.RowFilter = *filter
	}
	return nil
}

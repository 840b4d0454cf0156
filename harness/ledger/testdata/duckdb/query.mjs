// Reads the ledger of a folder with DuckDB and prints JSON: per table the number
// of rows and the column types, and rows with their lists unnested.
//
//   node query.mjs RUN-FOLDER MODULES-FOLDER
//
// MODULES-FOLDER is where `npm install` was run with the package.json beside
// this file.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [run, modules] = process.argv.slice(2);
if (!run || !modules) {
  console.error('usage: node query.mjs RUN-FOLDER MODULES-FOLDER');
  process.exit(2);
}
const { DuckDBInstance } = createRequire(join(modules, 'package.json'))('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();

const file = (table) => `read_parquet('${join(run, table + '.parquet').replaceAll("'", "''")}')`;
const query = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();

const out = { tables: {} };
for (const table of ['episodes', 'turns', 'tool_calls']) {
  const types = {};
  for (const c of await query(`DESCRIBE SELECT * FROM ${file(table)}`)) types[c.column_name] = c.column_type;
  const [{ n }] = await query(`SELECT count(*)::INTEGER AS n FROM ${file(table)}`);
  out.tables[table] = { rows: n, types };
}
out.checks = await query(
  `SELECT episode_id, c.name, c.passed, c.detail
   FROM (SELECT episode_id, unnest(checks) AS c, generate_subscripts(checks, 1) AS i FROM ${file('episodes')})
   ORDER BY episode_id, i`);
out.violations = await query(
  `SELECT episode_id, turn, v AS violation
   FROM (SELECT episode_id, turn, unnest(violations) AS v, generate_subscripts(violations, 1) AS i FROM ${file('turns')})
   ORDER BY episode_id, turn, i`);
// Text and numbers as strings, so that nothing is rounded on the way.
out.turns = await query(
  `SELECT episode_id, turn, strftime(ts_start AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%f') AS ts_start,
     seed::VARCHAR AS seed, tokens_in::VARCHAR AS tokens_in, cost_nanousd::VARCHAR AS cost_nanousd,
     http_status, confidence, thrash, reason
   FROM ${file('turns')} ORDER BY episode_id, turn`);
out.sums = (await query(
  `SELECT count(tokens_in)::INTEGER AS known, sum(tokens_in)::VARCHAR AS tokens_in, count(*) FILTER (ts_start < ts_end)::INTEGER AS ordered
   FROM ${file('turns')}`))[0];
out.answers = await query(`SELECT episode_id, answer FROM ${file('episodes')} ORDER BY episode_id`);
// A filter on a bound, so that DuckDB uses the statistics to skip row groups.
out.late = (await query(`SELECT count(*)::INTEGER AS n FROM ${file('tool_calls')} WHERE tool_call_seq >= 3`))[0].n;
out.metadata = await query(
  `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('${join(run, 'turns.parquet').replaceAll("'", "''")}')
   ORDER BY key`);

console.log(JSON.stringify(out));

// Prints as JSON what DuckDB knows of the row groups of turns.parquet before it
// reads one, the bounds of task_id among it, and how many rows one task has.
//
//   node skip.mjs RUN-FOLDER MODULES-FOLDER TASK
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [run, modules, task] = process.argv.slice(2);
if (!run || !modules || !task) {
  console.error('usage: node skip.mjs RUN-FOLDER MODULES-FOLDER TASK');
  process.exit(2);
}
const { DuckDBInstance } = createRequire(join(modules, 'package.json'))('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
const query = async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
const text = (s) => `'${s.replaceAll("'", "''")}'`;
const file = text(join(run, 'turns.parquet'));

const groups = await query(
  `SELECT row_group_id::INTEGER AS id, row_group_num_rows::INTEGER AS rows, stats_min_value AS low, stats_max_value AS high
   FROM parquet_metadata(${file}) WHERE path_in_schema = 'task_id' ORDER BY row_group_id`);
const [{ n }] = await query(`SELECT count(*)::INTEGER AS n FROM read_parquet(${file}) WHERE task_id = ${text(task)}`);
console.log(JSON.stringify({ groups, n }));

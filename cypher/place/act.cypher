// Where agents go and what they do there. They are locked in the order of the rows.
// rows LIST<MAP>: agentId STRING, place, object, doing, actingOn STRING or null, moved, changed BOOLEAN,
// clock ZONED DATETIME or null: of an agent that lives in simulated time
// Returns: acted INTEGER
UNWIND $rows AS row
MATCH (agent:Agent {id: row.agentId})
SET
  agent.placeSince = CASE WHEN row.moved THEN $now ELSE agent.placeSince END,
  agent.doingSince = CASE WHEN row.changed THEN $now ELSE agent.doingSince END,
  agent.place = row.place,
  agent.object = row.object,
  agent.doing = row.doing,
  agent.actingOn = row.actingOn,
  agent.clock = coalesce(row.clock, agent.clock)
RETURN count(agent) AS acted

// A place is known by its path within its scope: '' for the world itself, an agent's id for the part that agent knows.
CREATE CONSTRAINT placePath IF NOT EXISTS
FOR (place:Place) REQUIRE (place.scope, place.path) IS UNIQUE

package client

// Datasets are the files of the platform: images, rasters, vectors, point
// clouds, meshes and plain files, each with one component or more.
type Datasets struct {
	CreateDatasets      Op[CreateDatasets, []Dataset]       `create:"create-datasets" unknown:"search name,type,project,mission,company" doc:"Create many datasets in one request. Keys are named as in the request, such as type and components."`
	CreateFileDataset   Op[CreateFileDataset, Dataset]      `create:"create-dataset" unknown:"search name,type,project,mission,company" raises:"TypeError: a component is neither a name nor a table" doc:"Create a dataset of plain files."`
	CreateImageDataset  Op[CreateImageDataset, Dataset]     `create:"create-dataset" unknown:"search name,type,project,mission,company" doc:"Create an image dataset."`
	CreateMeshDataset   Op[CreateMeshDataset, Dataset]      `create:"create-dataset" unknown:"search name,type,project,mission,company" doc:"Create a mesh dataset with its textures and materials."`
	CreatePclDataset    Op[CreatePclDataset, Dataset]       `create:"create-dataset" unknown:"search name,type,project,mission,company" doc:"Create a point cloud dataset."`
	CreateRasterDataset Op[CreateRasterDataset, Dataset]    `create:"create-dataset" unknown:"search name,type,project,mission,company" doc:"Create a raster dataset with its sidecar files."`
	CreateVectorDataset Op[CreateVectorDataset, Dataset]    `create:"create-dataset" unknown:"search name,type,project,mission,company" doc:"Create a vector dataset: a file, a shape file set, an archive, or a collection of features."`
	Delete              Op[DatasetList, None]               `delete:"delete-datasets" chunk:"100" doc:"Delete one dataset or a list of datasets. They can be restored."`
	Restore             Op[DatasetList, None]               `set:"restore-datasets" unknown:"probe deletion_date=none" doc:"Restore deleted datasets."`
	Describe            Op[Refs, Some[Dataset]]             `read:"describe-dataset|describe-datasets" chunk:"1000" doc:"Describe one dataset or a list of datasets."`
	Rename              Op[Rename, None]                    `set:"rename-dataset" doc:"Rename a dataset."`
	AddCategories       Op[DatasetCategories, None]         `set:"add-dataset-categories" unknown:"probe categories" doc:"Add categories to a dataset."`
	RemoveCategories    Op[DatasetCategories, None]         `set:"delete-dataset-categories" does:"delete" doc:"Remove categories from a dataset."`
	UpdateProperties    Op[UpdateDatasetProperties, None]   `set:"update-dataset-properties" doc:"Set properties of a dataset; the others stay."`
	DeleteProperties    Op[DeleteDatasetProperties, None]   `set:"delete-dataset-properties" does:"delete" doc:"Remove properties from a dataset."`
	Search              SearchOp[DatasetQuery, Dataset]     `read:"search-datasets" page:"0" doc:"Find datasets."`
	Wait                Op[WaitForDatasets, IngestionState] `read:"" composed:"yes" extra:"no" returns:"table of counts: pending (0 in the end), completed, failed" doc:"Wait until none of the datasets is waiting for its ingestion or being ingested. One whose files were never uploaded counts as waiting."`
	UploadFile          Op[UploadFile, None]                `set:"init-upload-component|create-multipart-upload" unknown:"probe" extra:"no" raises:"ValueError: chunk_size is out of range" doc:"Upload a file as a component, straight to storage, in parallel parts when it is large. The checksum is verified."`
	DownloadComponent   Op[DownloadComponent, Path]         `read:"download-component" method:"GET" returns:"path of the file" doc:"Download a component. The file appears under its name only when it is complete and verified."`
	DownloadImageAsJPEG Op[DownloadImage, Path]             `read:"download-image-as-jpeg" method:"GET" returns:"path of the file" doc:"Download an image as JPEG."`
	DownloadPreview     Op[DownloadPreview, Path]           `read:"download-preview" method:"GET" returns:"path of the file" doc:"Download a small picture of a dataset."`
	ShareTiles          Op[ShareTiles, string]              `create:"" unknown:"steps" makes:"share_tokens none" composed:"yes" extra:"no" returns:"URL template with {z}, {x} and {y}" raises:"UnsupportedResourceError: a dataset is not ingested, has no tiles, or differs in kind from the others; RuntimeError: there are too many rasters for one URL, or the datasets belong to several companies" doc:"Share the tiles of rasters, or of one vector collection, by a URL with a token in it."`
}

// Inputs of the dataset operations, but for creation.
type (
	DatasetList struct {
		Dataset IDs `arg:"dataset,req,pos" set:"yes" wire:"datasets" wrap:"yes" doc:"dataset, or a list of datasets"`
		Extra
	}
	DatasetCategories struct {
		Ref
		Categories []string `arg:"categories,req" set:"yes" doc:"names of the categories"`
	}
	UpdateDatasetProperties struct {
		Ref
		Properties Object `arg:"properties,req" doc:"properties to set"`
	}
	DeleteDatasetProperties struct {
		Ref
		Properties []string `arg:"properties,req" set:"yes" doc:"names of the properties to remove"`
	}
	DatasetQuery struct {
		Query
		Count *bool `arg:"count" only:"generator" default:"false" doc:"count all matches with each page"`
	}
	UploadFile struct {
		Dataset   ID     `arg:"dataset,req,pos" doc:"dataset"`
		Component string `arg:"component,req" doc:"name of the component the file becomes"`
		FilePath  Path   `arg:"file_path,req" in:"none" doc:"the file"`
		MD5       string `arg:"md5hash" in:"none" how:"yes" doc:"MD5 of the file in hexadecimal; computed when absent"`
		Multipart *bool  `arg:"multipart" in:"none" how:"yes" default:"true" doc:"false sends the file in one request"`
		ChunkSize *int64 `arg:"chunk_size" in:"none" how:"yes" doc:"bytes of a part: 5 MiB to 5 GiB, 10 MiB when absent"`
	}
	Target struct {
		TargetPath Path   `arg:"target_path,pos" in:"none" doc:"folder, made when missing; the current one when absent"`
		TargetName string `arg:"target_name,pos" in:"none" doc:"name of the file; the platform's suggestion when absent"`
		Overwrite  bool   `arg:"overwrite,pos" in:"none" how:"yes" default:"false" doc:"replace a file that exists"`
	}
	DownloadComponent struct {
		Dataset    ID     `arg:"dataset,req,pos" in:"query" doc:"dataset"`
		Component  string `arg:"component,req" in:"query" doc:"name of the component"`
		TargetPath Path   `arg:"target_path" in:"none" doc:"folder, made when missing; the current one when absent"`
		TargetName string `arg:"target_name" in:"none" doc:"name of the file; the platform's suggestion when absent"`
		Overwrite  bool   `arg:"overwrite" in:"none" how:"yes" default:"false" doc:"replace a file that exists"`
		MD5        string `arg:"md5hash" in:"none" how:"yes" doc:"expected MD5 of the file; when absent the component's, else the one its storage reports"`
	}
	DownloadImage struct {
		Dataset ID `arg:"dataset,req,pos" in:"query" doc:"dataset"`
		Target
		MD5 string `arg:"md5hash,pos" in:"none" how:"yes" doc:"expected MD5 of the file"`
	}
	DownloadPreview struct {
		Dataset ID     `arg:"dataset,req,pos" in:"query" doc:"dataset"`
		Kind    string `arg:"kind,pos" in:"query" choices:"tiny|small" doc:"size of the picture; images only"`
		Target
	}
	ShareTiles struct {
		Dataset  IDs  `arg:"dataset,req,pos" set:"yes" doc:"raster, list of rasters, or one vector"`
		Duration *int `arg:"duration" doc:"seconds until the address expires; never when absent"`
		Company  ID   `arg:"company" doc:"company the token belongs to, the dataset's when absent; in revision 3 only"`
	}
)
